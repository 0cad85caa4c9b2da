// Colours of surfaces between layers, used in panels, sections and figures. Nine colours of equal lightness, as many as
// there are boundaries of the retina, distinguishable by everyone next to each other and on dark tissue (P. Tol,
// "light" scheme, SRON/EPS/TN/09-002, 2021). With more surfaces, colours repeat.
#pragma once

#include <array>
#include <cstddef>

#include "app/figure/figure_style.h"

namespace echolux {

inline const Colour& colour_of_surface(std::size_t number) {
    static constexpr std::array<Colour, 9> colours{{{0.933, 0.533, 0.400},    // orange
                                                    {0.467, 0.667, 0.867},    // blue
                                                    {0.933, 0.867, 0.533},    // yellow
                                                    {0.267, 0.733, 0.600},    // mint
                                                    {1.000, 0.667, 0.733},    // pink
                                                    {0.667, 0.667, 0.000},    // olive
                                                    {0.600, 0.867, 1.000},    // cyan
                                                    {0.733, 0.800, 0.200},    // pear
                                                    {0.867, 0.867, 0.867}}};  // gray
    return colours[number % colours.size()];
}

}  // namespace echolux
