// The colours of surfaces between layers, in panels, sections and figures the same: Okabe and Ito's, which all eyes
// tell apart, without black; used again from the first on.
#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>

namespace echolux {

inline ImVec4 colour_of_surface(std::size_t number) {
    static const std::array<ImVec4, 7> colours{{{0.90f, 0.62f, 0.00f, 1},
                                                {0.34f, 0.71f, 0.91f, 1},
                                                {0.00f, 0.62f, 0.45f, 1},
                                                {0.94f, 0.89f, 0.26f, 1},
                                                {0.00f, 0.45f, 0.70f, 1},
                                                {0.84f, 0.37f, 0.00f, 1},
                                                {0.80f, 0.47f, 0.65f, 1}}};
    return colours[number % colours.size()];
}

}  // namespace echolux
