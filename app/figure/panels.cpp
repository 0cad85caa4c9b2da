// Axes and colour ranges for each kind of picture.
#include <algorithm>
#include <cmath>
#include <glm/vec3.hpp>
#include <span>

#include "app/figure/figure_page.h"
#include "render/annotations/annotations.h"
#include "render/view/curve.h"

namespace echolux {
namespace {

// Outer edges of the first and last voxel; centres are at first + i * spacing.
struct Extent {
    double begin, end;
};

Extent extent_of(double first_um, double spacing_um, std::int64_t count) {
    if (spacing_um <= 0) return {-0.5, static_cast<double>(count) - 0.5};
    return {first_um - 0.5 * spacing_um, first_um + (static_cast<double>(count) - 0.5) * spacing_um};
}

// The same unit for both edges: millimetres if the longer edge is at least 2 mm.
LengthUnit common_unit(double longest_um) {
    constexpr double from_mm = 2000;
    return longest_um >= from_mm ? LengthUnit{1e3, "mm"} : LengthUnit{1, "µm"};
}

GrayRange range_of(const Figure& figure, const FigureStyle& style) {
    GrayRange range = percentile_range(figure);
    if (style.low > lowest_value) range.black = style.low;
    if (style.high < highest_value) range.white = style.high;
    if (range.black < range.white) return range;
    return {range.black, range.black + 1};  // all values are equal
}

bool is_velocity(const VolumeGrid& grid) {
    return grid.unit == "mm/s";
}

// Symmetric, so that zero flow has the middle colour, unless the user chose limits.
GrayRange velocity_range(const Figure& figure, const FigureStyle& style) {
    const GrayRange usual = percentile_range(figure);
    const double fastest = std::max({std::abs(usual.black), std::abs(usual.white), 1e-6});
    return {style.low > lowest_value ? style.low : -fastest, style.high < highest_value ? style.high : fastest};
}

// Colours of speeds in both directions. Missing values have the colour of zero flow.
Picture in_flow_colours(std::int64_t width, std::int64_t height, std::span<const float> speeds,
                        const GrayRange& range) {
    const double fastest = std::max({std::abs(range.black), std::abs(range.white), 1e-6});
    Picture picture{width, height, 3, {}, {}};
    for (const float speed : speeds) {
        const double shown = std::isnan(speed) ? 0 : std::clamp<double>(speed, range.black, range.white);
        const glm::dvec3 colour = colour_at(flow_map(), 0.5 + 0.5 * shown / fastest);
        for (int channel = 0; channel < 3; ++channel)
            picture.pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * colour[channel])));
    }
    return picture;
}

Picture bar_of_flow(const GrayRange& range) {
    constexpr std::int64_t steps = 256;
    std::vector<float> speeds;
    for (std::int64_t i = 0; i < steps; ++i) {
        const double share = static_cast<double>(i) / (steps - 1);
        speeds.push_back(static_cast<float>(range.white + share * (range.black - range.white)));
    }
    return in_flow_colours(1, steps, speeds, range);
}

void fill_gray(FigurePanel& panel, const Figure& figure, const VolumeGrid& grid, const FigureStyle& style) {
    const GrayRange range = range_of(figure, style);
    panel.picture = gray_pixels(figure, range);
    if (style.gray == GrayWay::inverted) {
        for (std::uint8_t& gray : panel.picture.pixels) gray = static_cast<std::uint8_t>(255 - gray);
    }
    const bool is_root = grid.quantity == "reflectivity";
    panel.bar = ValueBar{range, is_root             ? "fourth root of reflectivity"
                                : grid.unit.empty() ? grid.quantity
                                                    : grid.unit};
}

void fill_flow(FigurePanel& panel, const Figure& figure, const VolumeGrid& grid, const FigureStyle& style) {
    const GrayRange range = velocity_range(figure, style);
    panel.picture = in_flow_colours(figure.width, figure.height, figure.values, range);
    panel.bar = ValueBar{range, grid.unit, bar_of_flow(range)};
}

FigurePanel values_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style) {
    FigurePanel panel;
    is_velocity(grid) ? fill_flow(panel, figure, grid, style) : fill_gray(panel, figure, grid, style);
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
    FigurePanel panel = values_panel(figure, grid, style);
    const LengthUnit unit = common_unit(length_um(figure));
    panel.across = axis_of("x", "A-scan", extent_of(0, figure.column_um, figure.width), figure.column_um, unit);
    panel.downwards = axis_of("Depth", "Depth row", extent_of(grid.first_depth_um, figure.row_um, figure.height),
                              figure.row_um, unit);
    return panel;
}

// The last B-scan is the top row.
FigurePanel en_face_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style) {
    FigurePanel panel = values_panel(figure, grid, style);
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
