// Colours of layer surfaces for Dear ImGui.
#pragma once

#include <imgui.h>

#include "app/figure/surface_colours.h"

namespace echolux {

inline ImVec4 drawn_colour_of_surface(std::size_t number) {
    const Colour& colour = colour_of_surface(number);
    return {static_cast<float>(colour.red), static_cast<float>(colour.green), static_cast<float>(colour.blue), 1};
}

}  // namespace echolux
