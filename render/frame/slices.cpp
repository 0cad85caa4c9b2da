// Planes inside the volume, as the ray caster has to know them.
#include "render/frame/parts.h"

namespace echolux {

shared::SlicesFrame slices_frame(const Shot&) {
    return {};
}

}  // namespace echolux
