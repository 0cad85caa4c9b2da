// The flow over the structure, as the ray caster has to know it.
#include "render/frame/parts.h"

namespace echolux {

shared::FlowFrame flow_frame(const Shot&) {
    return {};
}

}  // namespace echolux
