// Fonts, colours and sizes of the interface. Owned by the window.
#pragma once

#include <imgui.h>

namespace echolux {

struct Style {
    float scale = 1;  // factor for all sizes in pixels
    ImFont* text = nullptr;
    ImFont* strong = nullptr;   // titles of panels, file names
    ImFont* numbers = nullptr;  // digits of equal width
    ImFont* large = nullptr;    // start page and alignment view

    ImVec4 accent{0.31f, 0.62f, 0.95f, 1};
    ImVec4 muted{0.58f, 0.61f, 0.66f, 1};    // units and explanations
    ImVec4 trouble{0.96f, 0.55f, 0.36f, 1};  // pending errors
    ImVec4 good{0.42f, 0.78f, 0.50f, 1};
    ImVec4 recording{0.93f, 0.20f, 0.22f, 1};

    // Converts a size in pixels at scale 1 to the current scale.
    float px(float at_scale_1) const { return at_scale_1 * scale; }
};

}  // namespace echolux
