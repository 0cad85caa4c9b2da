// Lays out panels on a page and draws it; see figure_page.h.
#pragma once

#include <filesystem>
#include <vector>

#include "app/figure/figure_page.h"

namespace echolux {

// Throws what Paper throws.
void draw_figure(const std::filesystem::path& path, const std::vector<FigureRow>& rows, const FigureStyle& style,
                 const PictureTexts& texts);

}  // namespace echolux
