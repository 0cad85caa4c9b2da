#include "app/figure/figure_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <glm/vec3.hpp>
#include <span>
#include <string>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/reason.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/output_rule.h"
#include "render/annotations/annotations.h"
#include "render/view/curve.h"

namespace echolux {

// ---- Style

template <>
const std::vector<Field<FigureStyle>>& describe<FigureStyle>() {
    using S = FigureStyle;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<S>> fields{
        number<S>("width_mm", &S::width_mm, 20, 2000, "mm", view,
                  "width of the page; one column of a journal is 85, two are 170"),
        number<S>("text_pt", &S::text_pt, 3, 72, "pt", view, "text size"),
        number<S>("dpi", &S::dpi, 36, 2400, "dpi", view,
                  "resolution of a PNG; images in PDF and SVG keep their pixels"),
        choice<S>("gray", &S::gray, {"normal", "inverted"}, view,
                  "inverted gray scale: low values are white, which saves ink"),
        number<S>("low", &S::low, lowest_value, highest_value, "", view,
                  "value shown as black; auto (-1e12): the noise floor of a B-scan in dB, otherwise leaves 0.3 % of "
                  "the values below")
            .special(lowest_value, "auto")
            .of_volume(),
        number<S>(
            "high", &S::high, lowest_value, highest_value, "", view,
            "value shown as white; auto (1e12): leaves 0.1 % of a B-scan in dB above, otherwise 0.3 % of the values")
            .special(highest_value, "auto")
            .of_volume(),
        flag<S>("axes", &S::axes, view, "axes in micrometres or millimetres; in voxels if the spacing is unknown"),
        flag<S>("scale_bar", &S::scale_bar, view, "scale bar of a round length in each image with known spacing"),
        flag<S>("colour_bar", &S::colour_bar, view, "colour bar of the gray levels, with the unit"),
        flag<S>("letters", &S::letters, view, "letters a, b, c if there are several images"),
        text<S>("title", &S::title, view, "title above the figure"),
    };
    return fields;
}

// ---- Axes and colour ranges for each kind of picture.

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
    if (style.gray == GrayDirection::inverted) {
        for (std::uint8_t& gray : panel.picture.pixels) gray = static_cast<std::uint8_t>(255 - gray);
    }
    const bool is_root = grid.quantity == "reflectivity";  // see gray_pixels()
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

// ---- Panels of layers

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

constexpr std::int64_t dash_period = 12, dash_length = 5;  // pixels

// Interpolates linearly between A-scans; nothing is drawn next to A-scans without a row. Ambiguous places are dashed.
void draw_surface(Picture& picture, const float* rows, const Reason* reasons, std::int64_t a_scans,
                  const Colour& colour) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
        const double at =
            std::clamp((static_cast<double>(x) + 0.5) / fineness - 0.5, 0.0, static_cast<double>(a_scans - 1));
        const auto left = static_cast<std::int64_t>(at);
        const std::int64_t right = std::min(left + 1, a_scans - 1);
        const double row = std::lerp(static_cast<double>(rows[left]), static_cast<double>(rows[right]),
                                     at - static_cast<double>(left));
        if (std::isnan(row)) continue;
        if (reasons[left] == Reason::ambiguous && x % dash_period >= dash_length) continue;
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
        const std::int64_t first = b_scan * surfaces.a_scans;
        draw_surface(panel.picture, surface.rows.data() + first, surface.reasons.data() + first, surfaces.a_scans,
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
    Picture picture{width, height, 3, std::vector<std::uint8_t>(index(3 * width * height)), {}};
    for (std::int64_t y = 0; y < height; ++y) {
        const std::int64_t b = grid.b_scans - 1 - y / cell;  // the last B-scan is the top row
        for (std::int64_t x = 0; x < width; ++x) {
            const auto place = index(b * grid.a_scans + x / cell);
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

void paint(FigurePanel& panel, const Figure& values, const ColourScale& scale, const FigureStyle& style) {
    const GrayRange range = scale.range ? *scale.range : range_of(values.values, style);
    const ColourMap colours = colour_map(scale.colours);
    panel.picture = {values.width, values.height, 3, std::vector<std::uint8_t>(3 * values.values.size()), {}};
    for (std::int64_t y = 0; y < values.height; ++y) {
        for (std::int64_t x = 0; x < values.width; ++x)
            put(panel.picture, x, y, colour_of(values.values[index(y * values.width + x)], range, colours));
    }
    panel.bar = ValueBar{range, scale.unit, bar_of(colours)};
    panel.width_um = 0;  // its axes have scales, and a bar would hide values
}

std::vector<float> levels_of(const std::vector<float>& values) {
    const GrayRange range = range_of(values, {});
    std::vector<float> levels = values;
    for (float& level : levels) {
        const double value = (static_cast<double>(level) - range.black) / (range.white - range.black);
        if (std::isfinite(value)) level = static_cast<float>(std::clamp(value, 0.0, 1.0));
    }
    return levels;
}

namespace {

// Hue 0 to 1 around the circle from red over green and blue.
Colour colour_of_hue(double hue, double saturation, double value) {
    const auto channel = [&](double at) {
        const double place = std::fmod(at + 6 * hue, 6);
        return value * (1 - saturation * std::clamp(std::min(place, 4 - place), 0.0, 1.0));
    };
    return {channel(5), channel(3), channel(1)};
}

}  // namespace

void paint(FigurePanel& panel, ColourModel model, const std::array<std::vector<float>, 3>& levels, std::int64_t width) {
    const auto& [first, second, third] = levels;
    panel.picture = {width, std::ssize(first) / width, 3, std::vector<std::uint8_t>(3 * first.size()), {}};
    for (std::size_t i = 0; i < first.size(); ++i) {
        const auto a = static_cast<double>(first[i]), b = static_cast<double>(second[i]),
                   c = static_cast<double>(third[i]);
        Colour colour{0.5, 0.5, 0.5};
        if (std::isfinite(a + b + c)) colour = model == ColourModel::rgb ? Colour{a, b, c} : colour_of_hue(a, b, c);
        const auto at = static_cast<std::int64_t>(i);
        put(panel.picture, at % width, at / width, colour);
    }
    panel.bar.reset();
    panel.width_um = 0;
}

// ---- Files

namespace {

#ifdef ECHOLUX_FIGURES
constexpr bool has_figures = true;
#else
constexpr bool has_figures = false;
#endif

}  // namespace

FigureFormat figure_format_of(const std::filesystem::path& path) {
    const std::string ending = lower_ending(path);
    if (ending == ".pdf") return FigureFormat::pdf;
    if (ending == ".svg") return FigureFormat::svg;
    return ending == ".png" ? FigureFormat::png : FigureFormat::none;
}

std::string svg_mark() {
    return std::string("<!-- Echolux ") + version + " -->\n";
}

bool is_own_figure(const std::filesystem::path& path) {
    switch (figure_format_of(path)) {
        case FigureFormat::pdf: return holds_near_an_end(path, "/Creator (Echolux ");
        case FigureFormat::svg: return holds_near_an_end(path, "<!-- Echolux ");
        case FigureFormat::png: return is_own_picture(path);
        case FigureFormat::none: break;
    }
    return false;
}

void check_figure_name(const std::filesystem::path& path) {
    if (figure_format_of(path) == FigureFormat::none) {
        throw Error(ErrorCode::bad_setting, "figures are PDF, SVG or PNG files", path.string(),
                    "name it *.pdf, *.svg or *.png; `a_scan` and `psf` write *.csv");
    }
    if (!has_figures) {
        throw Error(ErrorCode::bad_setting, "this build cannot write figures", path.string(),
                    "write a plain image, or build with -DECHOLUX_FIGURES=ON (libcairo2-dev)");
    }
    check_can_be_written(path);
}

void write_figure(const std::filesystem::path& path, const std::vector<FigureRow>& rows, const FigureStyle& style,
                  const PictureTexts& texts) {
    check_figure_name(path);
    if constexpr (has_figures) draw_figure(path, rows, style, texts);
}

// ---- Plots

ValueRange range_with_margin(std::span<const double> values) {
    if (values.empty()) return {};
    const auto [least, greatest] = std::ranges::minmax(values);
    const double margin = greatest > least ? 0.05 * (greatest - least) : 1;  // 1: any, for equal values
    return {least - margin, greatest + margin};
}

FigureAxis axis_across(const std::string& label, const std::string& unit, const ValueRange& range) {
    return {label, unit, range.low, range.high};
}

FigureAxis axis_upwards(const std::string& label, const std::string& unit, const ValueRange& range) {
    return {label, unit, range.high, range.low};
}

FigurePanel curve_panel(FigureAxis across, FigureAxis upwards, double aspect, const std::string& heading) {
    FigurePanel panel;
    panel.aspect = aspect;
    panel.across = std::move(across);
    panel.downwards = std::move(upwards);
    panel.heading = heading;
    return panel;
}

std::vector<double> evenly(std::size_t count, double step) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = step * static_cast<double>(i);
    return values;
}

std::vector<double> decibels_of(const std::vector<double>& amplitude, double reference) {
    std::vector<double> levels;
    for (const double a : amplitude) levels.push_back(20 * std::log10(std::max(a / reference, 1e-10)));
    return levels;
}

void write_plot(const std::filesystem::path& path, const std::vector<FigureRow>& rows) {
    FigureStyle style;
    style.dpi = 200;
    write_figure(path, rows, style, {{text_program, version}});
}

}  // namespace echolux
