// What stands at the edges of each kind of picture.
#include <algorithm>
#include <cmath>

#include "app/figure/figure_page.h"
#include "render/annotations/quantities.h"

namespace echolux {
namespace {

// Where voxels begin and end: their centres lie at first + i * spacing.
struct Extent {
    double begin, end;
};

Extent extent_of(double first_um, double spacing_um, std::int64_t count) {
    if (spacing_um <= 0) return {-0.5, static_cast<double>(count) - 0.5};
    return {first_um - 0.5 * spacing_um, first_um + (static_cast<double>(count) - 0.5) * spacing_um};
}

// One unit for both edges of a picture: millimetres from two of them on.
LengthUnit common_unit(double longest_um) {
    constexpr double from_mm = 2000;
    return longest_um >= from_mm ? LengthUnit{1e3, "mm"} : LengthUnit{1, "µm"};
}

GrayRange range_of(const Figure& figure, const FigureStyle& style) {
    GrayRange range = percentile_range(figure);
    if (style.low > lowest_value) range.black = style.low;
    if (style.high < highest_value) range.white = style.high;
    if (range.black < range.white) return range;
    return {range.black, range.black + 1};  // nothing but one value
}

FigurePanel gray_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style) {
    const GrayRange range = range_of(figure, style);
    FigurePanel panel;
    panel.picture = gray_pixels(figure, range);
    if (style.gray == GrayWay::inverted) {
        for (std::uint8_t& gray : panel.picture.pixels) gray = static_cast<std::uint8_t>(255 - gray);
    }
    const bool is_root = grid.quantity == "reflectivity";
    panel.bar = GrayBar{range, is_root ? "fourth root of reflectivity" : grid.unit.empty() ? grid.quantity : grid.unit};
    const bool is_known = figure.column_um > 0 && figure.row_um > 0;
    const double column = is_known ? figure.column_um : 1, row = is_known ? figure.row_um : 1;
    panel.aspect = column * static_cast<double>(figure.width) / (row * static_cast<double>(figure.height));
    panel.width_um = is_known ? column * static_cast<double>(figure.width) : 0;
    return panel;
}

FigureAxis axis_of(const char* label, const char* counted, const Extent& extent, double spacing_um,
                   const LengthUnit& unit) {
    if (spacing_um <= 0) return {counted, "", extent.begin, extent.end};
    return {label, unit.name, extent.begin / unit.um, extent.end / unit.um};
}

double length_um(const Figure& figure) {
    return std::max(figure.column_um * static_cast<double>(figure.width),
                    figure.row_um * static_cast<double>(figure.height));
}

}  // namespace

FigurePanel b_scan_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style) {
    FigurePanel panel = gray_panel(figure, grid, style);
    const LengthUnit unit = common_unit(length_um(figure));
    panel.across = axis_of("x", "A-scan", extent_of(0, figure.column_um, figure.width), figure.column_um, unit);
    panel.downwards = axis_of("Depth", "Depth row", extent_of(grid.first_depth_um, figure.row_um, figure.height),
                              figure.row_um, unit);
    return panel;
}

// The last B-scan is the top row.
FigurePanel en_face_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style) {
    FigurePanel panel = gray_panel(figure, grid, style);
    const LengthUnit unit = common_unit(length_um(figure));
    panel.across = axis_of("x", "A-scan", extent_of(0, figure.column_um, figure.width), figure.column_um, unit);
    panel.downwards = axis_of("y", "B-scan", extent_of(0, figure.row_um, figure.height), figure.row_um, unit);
    std::swap(panel.downwards->begin, panel.downwards->end);
    return panel;
}

FigurePanel view_panel(Picture picture) {
    FigurePanel panel;
    panel.aspect = static_cast<double>(picture.width) / static_cast<double>(picture.height);
    panel.picture = std::move(picture);
    return panel;
}

}  // namespace echolux
