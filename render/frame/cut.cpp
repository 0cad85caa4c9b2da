// What is cut away, as the ray caster has to know it.
#include "render/frame/parts.h"

namespace echolux {

shared::CutFrame cut_frame(const Shot&) {
    return {};
}

}  // namespace echolux
