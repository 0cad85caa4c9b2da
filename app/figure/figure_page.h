// Pictures and curves with axes on a page: rows of panels as wide as the page, drawn on a paper. One code for all
// formats, so that a figure looks the same in a paper, on a screen and in a drawing program.
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

// Along an edge of a picture: where its first and its last pixel begin and end.
struct FigureAxis {
    std::string label;  // "Depth"
    std::string unit;   // "µm", "mm" or "voxels"
    double begin = 0;   // left, or top
    double end = 1;     // right, or bottom; below `begin` where values grow upwards
};

struct ValueBar {
    GrayRange range;
    std::string unit;
    std::optional<Picture> colours{};  // a column from the highest value down; nothing: grays
};

// Values over the axis across.
struct FigureCurve {
    enum class Look { line, dashed, spots };

    std::string name;  // in the legend; empty: not in it
    std::vector<double> x, y;
    Colour colour;
    Look look = Look::line;
};

// In an upper corner of a panel of curves.
enum class LegendCorner { left, right };

struct FigurePanel {
    Picture picture;
    double aspect = 1;                 // width by height, as it is to be shown
    std::optional<FigureAxis> across;  // none: a view
    std::optional<FigureAxis> downwards;
    std::optional<ValueBar> bar;
    double width_um = 0;  // for a scale bar; 0: unknown
    std::string heading;  // above it

    // Instead of a picture; both axes are then there.
    std::vector<FigureCurve> curves;
    std::vector<std::pair<double, double>> shaded;  // parts of the axis across that do not count
    LegendCorner legend = LegendCorner::right;
};

using FigureRow = std::vector<FigurePanel>;

// A B-scan and a projection, as engine/analysis/figures.h makes them, with axes: `grid` is that of the volume. In gray,
// but velocities in the colours of flow, as the 3-D view shows them, with as many either way.
FigurePanel b_scan_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style);
FigurePanel en_face_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style);
FigurePanel view_panel(Picture picture);

// Throws what check_figure_name() throws, and Error{bad_setting} for a page of too many pixels.
void write_figure(const std::filesystem::path& path, const std::vector<FigureRow>& rows, const FigureStyle& style,
                  const PictureTexts& texts);

}  // namespace echolux
