// Curves of a panel inside its frame: grid, shaded ranges, lines and spots, legend.
#pragma once

#include <vector>

#include "app/figure/drawing/paper.h"
#include "app/figure/figure_page.h"
#include "render/annotations/annotations.h"

namespace echolux {

// `panel` has both axes. `text` is the size of all text. Grid lines are at the ticks.
void draw_curves(Paper& paper, const FigurePanel& panel, const Box& box, double text, const std::vector<Tick>& across,
                 const std::vector<Tick>& downwards);

}  // namespace echolux
