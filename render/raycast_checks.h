// Whether a picture can be made of what is there.
#pragma once

#include "render/raycaster.h"

namespace echolux {

// Throws Error{bad_setting} naming the key that cannot work.
void check_scene(const Shot& shot);

}  // namespace echolux
