// Figures: pictures and curves with axes on a page, as rows of panels that fill the page width. The same code draws all
// formats, so a figure looks the same in print, on a screen and in a drawing program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/plan/described.h"
#include "engine/analysis/figures.h"
#include "engine/io/png_file.h"
#include "engine/layers/layers.h"
#include "render/view/curve.h"

namespace echolux {

// ---- Style of figures: section [figure].

enum class GrayDirection { normal, inverted };  // inverted: low values are white

struct Colour {
    double red = 0, green = 0, blue = 0;
};

struct FigureStyle {
    double width_mm = 170;
    double text_pt = 8;
    double dpi = 300;
    GrayDirection gray = GrayDirection::normal;
    double low = lowest_value;  // drawn black, or white if inverted. By default the range excludes 0.3 % of the values
    double high = highest_value;
    bool axes = true;
    bool scale_bar = true;
    bool colour_bar = true;
    bool letters = true;
    std::string title;
};

template <>
const std::vector<Field<FigureStyle>>& describe<FigureStyle>();

// ---- Panels

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

// A short text on an opaque plate over a picture.
struct FigureNote {
    double x = 0, y = 0;
    std::string text;
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

    // Drawn over a picture, which needs both axes: curves, and texts centred on their points.
    std::vector<FigureCurve> overlay{};
    std::vector<FigureNote> notes{};
};

using FigureRow = std::vector<FigurePanel>;

// ---- Panels of volumes

// Panels of a B-scan and a projection from engine/analysis/figures.h, with axes. `grid` is that of the volume. Grey,
// except velocities: these have the colours of flow in the 3-D view, with a symmetric range.
FigurePanel b_scan_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style);
FigurePanel en_face_panel(const Figure& figure, const VolumeGrid& grid, const FigureStyle& style);
FigurePanel view_panel(Picture picture);

// ---- Surfaces in figures: drawn into a B-scan, and coloured maps of thickness or brightness with a colour bar.

// A grey B-scan with a line per surface. The names are listed above, from top to bottom.
FigurePanel layered_b_scan_panel(const Volume& volume, std::int64_t b_scan, const Surfaces& surfaces,
                                 const FigureStyle& style);

// A map over the lateral plane.
struct LayerMap {
    const std::vector<float>& values;            // [b_scan][a_scan]; NaN: missing
    const std::vector<std::uint8_t>& ambiguous;  // 1: ambiguous, drawn hatched; empty: no value is ambiguous
    std::string heading, unit;
};

// Returns the map in viridis colours, oriented like the en face panel. Missing values are grey. The heading states the
// share of hatched values.
FigurePanel map_panel(const LayerMap& map, const VolumeGrid& grid, const FigureStyle& style);

// Colours of values: a colour map, its range (by default the middle 98 % of the values, or that of the style), the
// unit.
struct ColourScale {
    std::string_view colours = "viridis";
    std::optional<GrayRange> range{};
    std::string unit{};
};

// Replaces the picture of a panel by values row by row, one pixel each, and adds a colour bar. Missing values are grey.
void paint(FigurePanel& panel, const Figure& values, const ColourScale& scale, const FigureStyle& style);

// Returns the levels from 0 to 1 of values between their 1st and 99th percentile; NaN stays NaN.
std::vector<float> levels_of(const std::vector<float>& values);

// Replaces the picture by colours: three levels from 0 to 1 per pixel, red, green and blue, or hue (0 red, 2/3 blue),
// saturation and value. Pixels with a NaN are grey.
enum class ColourModel { rgb, hsv };
void paint(FigurePanel& panel, ColourModel model, const std::array<std::vector<float>, 3>& levels, std::int64_t width);

// ---- Files of figures. The file name extension selects the format.

enum class FigureFormat { none, pdf, svg, png };

FigureFormat figure_format_of(const std::filesystem::path& path);

// Returns true if this file was drawn by Echolux.
bool is_own_figure(const std::filesystem::path& path);

// A line that marks our SVG files; cairo writes none.
std::string svg_mark();

// Throws Error{bad_setting} for an unknown extension, and Error{output}.
void check_figure_name(const std::filesystem::path& path);

// Throws what check_figure_name() throws, and Error{bad_setting} for too many pixels.
void write_figure(const std::filesystem::path& path, const std::vector<FigureRow>& rows, const FigureStyle& style,
                  const PictureTexts& texts);

// Defined only in builds with figures, in drawing/. Throws Error{output, out_of_memory}, and Error{bad_setting} for too
// many pixels.
void draw_figure(const std::filesystem::path& path, const std::vector<FigureRow>& rows, const FigureStyle& style,
                 const PictureTexts& texts);

// ---- Building blocks of plots: panels of curves, their axes and colours, and the page.

// M. Okabe and K. Ito: distinguishable with colour blindness, and by brightness in grey.
namespace plot_colours {
inline constexpr Colour blue{0.00, 0.45, 0.70}, vermilion{0.84, 0.37, 0.00}, green{0.00, 0.62, 0.45},
    gray{0.55, 0.55, 0.55};
}

// Range of all numbers with a margin of 5 % on both sides.
ValueRange range_with_margin(std::span<const double> values);

FigureAxis axis_across(const std::string& label, const std::string& unit, const ValueRange& range);
FigureAxis axis_upwards(const std::string& label, const std::string& unit, const ValueRange& range);

FigurePanel curve_panel(FigureAxis across, FigureAxis upwards, double aspect, const std::string& heading = {});

// Returns 0, step, 2 step, ...
std::vector<double> evenly(std::size_t count, double step);

// Computes 20 log10 relative to `reference`, clamped to -200 dB.
std::vector<double> decibels_of(const std::vector<double>& amplitude, double reference);

// Throws what write_figure() throws.
void write_plot(const std::filesystem::path& path, const std::vector<FigureRow>& rows);

// ---- Colours of surfaces between layers, used in panels, sections and figures. Nine colours of equal lightness, as
// many as there are boundaries of the retina, distinguishable by everyone next to each other and on dark tissue (P.
// Tol, "light" scheme, SRON/EPS/TN/09-002, 2021). With more surfaces, colours repeat.

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
