// Brightness of the background, which decides the colour of lines.
#pragma once

#include "render/view/view.h"

namespace echolux {

// Returns true if lines on the background should be light. A transparent background counts as dark.
inline bool has_dark_background(const Canvas& canvas) {
    const std::vector<double>& colour = canvas.background;
    return canvas.transparent || colour[0] + colour[1] + colour[2] < 1.5;
}

}  // namespace echolux
