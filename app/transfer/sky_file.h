// The picture that a view names as its sky.
#pragma once

#include "render/view/view.h"

namespace echolux {

// Reads `sky_picture`, or lets go of what was read where there is none. Throws Error{bad_file}.
void load_sky(View& view);

}  // namespace echolux
