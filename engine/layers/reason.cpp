#include "engine/layers/reason.h"

namespace echolux {

const char* name_of(Reason reason) {
    switch (reason) {
        case Reason::ok: return "ok";
        case Reason::no_signal: return "no_signal";
        case Reason::ambiguous: return "ambiguous";
        case Reason::weak_match: return "weak_match";
        case Reason::out_of_range: return "out_of_range";
    }
    return "";
}

}  // namespace echolux
