#include "app/figure/layer_panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/vec3.hpp>

#include "app/figure/surface_colours.h"
#include "render/view/curve.h"

namespace echolux {
namespace {

constexpr std::int64_t fineness = 4;  // picture pixels per voxel, so that lines appear thin

constexpr std::int64_t thickness = 4;  // line width in pixels

std::uint8_t byte_of(double level) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(level, 0.0, 1.0)));
}

Picture in_three_channels(const Picture& gray) {
    Picture picture{gray.width, gray.height, 3, {}, {}};
    picture.pixels.reserve(3 * gray.pixels.size());
    for (const std::uint8_t level : gray.pixels) picture.pixels.insert(picture.pixels.end(), 3, level);
    return picture;
}

void put(Picture& picture, std::int64_t x, std::int64_t y, const Colour& colour) {
    if (x < 0 || y < 0 || x >= picture.width || y >= picture.height) return;
    std::uint8_t* pixel = picture.pixels.data() + 3 * (y * picture.width + x);
    pixel[0] = byte_of(colour.red);
    pixel[1] = byte_of(colour.green);
    pixel[2] = byte_of(colour.blue);
}

// Interpolates linearly between A-scans; nothing is drawn next to A-scans without a row.
void draw_surface(Picture& picture, const float* rows, std::int64_t a_scans, const Colour& colour) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
        const double at =
            std::clamp((static_cast<double>(x) + 0.5) / fineness - 0.5, 0.0, static_cast<double>(a_scans - 1));
        const auto left = static_cast<std::int64_t>(at);
        const std::int64_t right = std::min(left + 1, a_scans - 1);
        const double row = std::lerp(static_cast<double>(rows[left]), static_cast<double>(rows[right]),
                                     at - static_cast<double>(left));
        if (std::isnan(row)) continue;
        const auto y = static_cast<std::int64_t>(std::lround((row + 0.5) * fineness));
        for (std::int64_t over = -thickness / 2; over < thickness / 2; ++over) put(picture, x, y + over, colour);
    }
}

// The middle 98 % of the known values, or the range chosen by the user.
GrayRange range_of(const std::vector<float>& map, const FigureStyle& style) {
    std::vector<float> known;
    std::ranges::copy_if(map, std::back_inserter(known), [](float value) { return std::isfinite(value); });
    GrayRange range{0, 1};
    if (!known.empty()) {
        std::ranges::sort(known);
        const auto last = static_cast<double>(known.size() - 1);
        range.black = static_cast<double>(known[static_cast<std::size_t>(0.01 * last)]);
        range.white = static_cast<double>(known[static_cast<std::size_t>(std::ceil(0.99 * last))]);
    }
    if (style.low > lowest_value) range.black = style.low;
    if (style.high < highest_value) range.white = style.high;
    if (range.black >= range.white) range.white = range.black + 1;
    return range;
}

Colour colour_of(float value, const GrayRange& range, const ColourMap& colours) {
    if (!std::isfinite(value)) return {0.5, 0.5, 0.5};
    const double level = (static_cast<double>(value) - range.black) / (range.white - range.black);
    const glm::dvec3 colour = colour_at(colours, std::clamp(level, 0.0, 1.0));
    return {colour.r, colour.g, colour.b};
}

Picture bar_of(const ColourMap& colours) {
    constexpr std::int64_t steps = 256;
    Picture bar{1, steps, 3, std::vector<std::uint8_t>(3 * steps), {}};
    for (std::int64_t y = 0; y < steps; ++y)
        put(bar, 0, y, colour_of(static_cast<float>(steps - 1 - y), {0, steps - 1}, colours));
    return bar;
}

constexpr Colour white{1, 1, 1};
constexpr std::int64_t hatching_period = 6, hatching_width = 2;  // pixels

// Enlarges small maps so that the hatching is finer than most regions.
std::int64_t map_fineness(const VolumeGrid& grid) {
    constexpr std::int64_t enough = 768, most = 8;
    return std::clamp<std::int64_t>(enough / std::max<std::int64_t>({1, grid.a_scans, grid.b_scans}), 1, most);
}

bool is_in_hatching(std::int64_t x, std::int64_t y) {
    return (x + y) % hatching_period < hatching_width;
}

// Returns ", hatched: ambiguous (12 %)", or "" if no value is ambiguous.
std::string hatching_text(const LayerMap& map) {
    std::int64_t values = 0, ambiguous = 0;
    for (std::size_t i = 0; i < map.values.size(); ++i) {
        if (!std::isfinite(map.values[i])) continue;
        ++values;
        if (!map.ambiguous.empty()) ambiguous += map.ambiguous[i];
    }
    if (ambiguous == 0) return "";
    return fmt::format(", hatched: ambiguous ({:.0f} %)",
                       100.0 * static_cast<double>(ambiguous) / static_cast<double>(values));
}

}  // namespace

FigurePanel layered_b_scan_panel(const Volume& volume, std::int64_t b_scan, const Surfaces& surfaces,
                                 const FigureStyle& style) {
    const Figure figure = b_scan_figure(volume, b_scan);
    FigurePanel panel = b_scan_panel(figure, volume.grid, style);
    const GrayRange range = panel.bar ? panel.bar->range : percentile_range(figure);
    panel.picture = in_three_channels(gray_pixels(enlarged(figure, fineness), range));
    for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
        const Surface& surface = surfaces.all[k];
        draw_surface(panel.picture, surface.rows.data() + b_scan * surfaces.a_scans, surfaces.a_scans,
                     colour_of_surface(k));
        panel.heading += (panel.heading.empty() ? "" : ", ") + surface.name;
    }
    return panel;
}

FigurePanel map_panel(const LayerMap& map, const VolumeGrid& grid, const FigureStyle& style) {
    const GrayRange range = range_of(map.values, style);
    const ColourMap colours = colour_map("viridis");
    const std::int64_t cell = map_fineness(grid);
    const std::int64_t width = cell * grid.a_scans, height = cell * grid.b_scans;
    Picture picture{width, height, 3, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height)), {}};
    for (std::int64_t y = 0; y < height; ++y) {
        const std::int64_t b = grid.b_scans - 1 - y / cell;  // the last B-scan is the top row
        for (std::int64_t x = 0; x < width; ++x) {
            const auto place = static_cast<std::size_t>(b * grid.a_scans + x / cell);
            const float value = map.values[place];
            const bool is_ambiguous = !map.ambiguous.empty() && map.ambiguous[place] != 0 && std::isfinite(value);
            put(picture, x, y, is_ambiguous && is_in_hatching(x, y) ? white : colour_of(value, range, colours));
        }
    }
    Figure figure{grid.a_scans, grid.b_scans, {}, grid.spacing_um[1], grid.spacing_um[2]};
    figure.values.resize(map.values.size());
    FigurePanel panel = en_face_panel(figure, {}, style);
    panel.picture = std::move(picture);
    panel.bar = ValueBar{range, map.unit, bar_of(colours)};
    panel.heading = map.heading + hatching_text(map);
    return panel;
}

}  // namespace echolux
