// Checks of a scene before rendering.
#pragma once

#include "render/raycaster.h"

namespace echolux {

// Throws Error{bad_setting} that names the unsuitable key.
void check_scene(const Shot& shot);

}  // namespace echolux
