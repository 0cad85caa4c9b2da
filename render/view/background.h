// What lines are drawn on.
#pragma once

#include "render/view/view.h"

namespace echolux {

// Whether lines stand out from it that are light. What is transparent is taken to lie on something dark.
inline bool has_dark_background(const Canvas& canvas) {
    const std::vector<double>& colour = canvas.background;
    return canvas.transparent || colour[0] + colour[1] + colour[2] < 1.5;
}

}  // namespace echolux
