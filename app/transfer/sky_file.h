// Sky picture of a view.
#pragma once

#include "render/view/view.h"

namespace echolux {

// Reads `sky_picture`, or releases the picture read earlier if it is empty. Throws Error{bad_file}.
void load_sky(View& view);

}  // namespace echolux
