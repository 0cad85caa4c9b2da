// Pictures and curves with axes on a page: rows of panels that fill the page width, drawn on a Paper. The same code
// draws all formats, so a figure looks the same in print, on a screen and in a drawing program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/figure/figure_style.h"
#include "engine/analysis/figures.h"
#include "engine/io/png_file.h"

namespace echolux {

// Axis along an edge of a picture, from the outer edge of its first pixel to that of its last.
struct FigureAxis {
    std::string label;  // such as "Depth"
    std::string unit;   // "µm", "mm" or "voxels"
    double begin = 0;   // at the left or top edge
    double end = 1;     // at the right or bottom edge; less than `begin` if values grow upwards
};

struct ValueBar {
    GrayRange range;
    std::string unit;
    std::optional<Picture> colours{};  // a column, highest value first; std::nullopt: grey
};

// Values over the horizontal axis.
struct FigureCurve {
    enum class Look { line, dashed, spots };

    std::string name;  // in the legend; empty: not listed
    std::vector<double> x, y;
    Colour colour;
    Look look = Look::line;
};

// Upper corner of a panel of curves.
enum class LegendCorner { left, right };

struct FigurePanel {
    Picture picture;
    double aspect = 1;                 // width / height as displayed
    std::optional<FigureAxis> across;  // std::nullopt: a view without axes
    std::optional<FigureAxis> downwards;
    std::optional<ValueBar> bar;
    double width_um = 0;  // for a scale bar; 0: unknown
    std::string heading;  // above the picture

    // Drawn instead of a picture; both axes are then required.
    std::vector<FigureCurve> curves;
    std::vector<std::pair<double, double>> shaded;  // ranges of the horizontal axis that are excluded
    LegendCorner legend = LegendCorner::right;
};

using FigureRow = std::vector<FigurePanel>;

// Panels of a B-scan and a projection from engine/analysis/figures.h, with axes. `grid` is that of the volume. Grey,
// except velocities: these have the colours of flow in the 3-D view, with a symmetric range.
FigurePanel b_scan_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style);
FigurePanel en_face_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style);
FigurePanel view_panel(Picture picture);

// Throws what check_figure_name() throws, and Error{bad_setting} for too many pixels.
void write_figure(const std::filesystem::path& path, const std::vector<FigureRow>& rows, const FigureStyle& style,
                  const PictureTexts& texts);

}  // namespace echolux
