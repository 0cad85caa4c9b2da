#include "app/transfer/transfer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/json_text.h"
#include "engine/io/png_file.h"
#include "engine/io/regular_file.h"
#include "engine/scan/settings.h"
#include "render/sky_picture.h"
#include "render/view/curve.h"

namespace echolux {

// ---- Points: combines colours and extinctions given at separate values.

namespace {

// Rows of `row` numbers: a value, followed by the data at that value.
struct PointList {
    std::span<const double> numbers;
    std::size_t row = 0;
    std::string where;  // file and key

    std::size_t size() const { return numbers.size() / row; }
    double value(std::size_t point) const { return numbers[point * row]; }

    // Returns column `column` at a position: linear between points, constant beyond them.
    double at(double position, std::size_t column) const {
        std::size_t after = 0;
        while (after < size() && value(after) < position) ++after;
        const auto of = [&](std::size_t point) { return numbers[point * row + column]; };
        if (after == size()) return of(after - 1);
        if (after == 0 || value(after) == position) return of(after);
        const double part = (position - value(after - 1)) / (value(after) - value(after - 1));
        return std::lerp(of(after - 1), of(after), part);
    }
};

constexpr double min_saved_roughness = 0.05;  // same limit as view.roughness

void check_columns(const PointList& list, double max_value, double min_value = 0) {
    for (std::size_t i = 0; i < list.numbers.size(); ++i) {
        const double number = list.numbers[i];
        if (i % list.row == 0 || (number >= min_value && number <= max_value)) continue;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{:g} is not between {:g} and {:g}, at the value {:g}", number, min_value, max_value,
                                list.value(i / list.row)),
                    list.where, "correct the number");
    }
}

// Throws Error{bad_setting} unless there are `min_rows` complete rows of finite numbers at ascending values.
void check_rows(const PointList& list, std::size_t min_rows) {
    if (list.numbers.size() % list.row != 0) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {}, not a multiple of {}", plural(list.numbers.size(), "numbers"), list.row),
                    list.where, "each point is a value followed by its colour, extinction or roughness");
    }
    if (list.size() < min_rows) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {} of at least {}", list.size(), plural(min_rows, "points")), list.where,
                    "add what is missing");
    }
    if (!std::ranges::all_of(list.numbers, [](double number) { return std::abs(number) <= highest_value; })) {
        throw Error(ErrorCode::bad_setting, "has a number that is not finite or beyond 1e12", list.where,
                    "correct the number");
    }
    for (std::size_t i = 1; i < list.size(); ++i) {
        if (list.value(i - 1) < list.value(i)) continue;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("the value {:g} comes after {:g}", list.value(i), list.value(i - 1)), list.where,
                    "write the points in ascending order, each value once");
    }
}

// Combines `colours` (value, red, green, blue), `extinctions` (value, extinction) and the optional `roughness` (value,
// roughness). Throws Error{bad_setting} for incomplete rows, fewer than two rows, values that are not finite or not
// ascending, colours outside 0 .. 1, extinctions below 0, and roughness outside 0.05 .. 1.
std::vector<TransferNode> joined(const PointList& colours, const PointList& extinctions,
                                 const PointList& roughness = {}) {
    const bool is_rough = !roughness.numbers.empty();
    check_rows(colours, 2);
    check_rows(extinctions, 2);
    check_columns(colours, 1);
    check_columns(extinctions, 1e6);
    if (is_rough) check_rows(roughness, 2);
    if (is_rough) check_columns(roughness, 1, min_saved_roughness);
    std::vector<double> values;
    for (std::size_t i = 0; i < colours.size(); ++i) values.push_back(colours.value(i));
    for (std::size_t i = 0; i < extinctions.size(); ++i) values.push_back(extinctions.value(i));
    for (std::size_t i = 0; is_rough && i < roughness.size(); ++i) values.push_back(roughness.value(i));
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<TransferNode> nodes;
    for (const double value : values) {
        nodes.push_back(
            {value, colours.at(value, 1), colours.at(value, 2), colours.at(value, 3), extinctions.at(value, 1)});
        if (is_rough) nodes.back().roughness = roughness.at(value, 1);
    }
    return nodes;
}

}  // namespace

// ---- Colour maps exported by ParaView: JSON with `RGBPoints` (value, red, green, blue) and, if opacity was exported,
// `Points` (value, opacity, midpoint, sharpness).

namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t longest_json = 1 << 20;  // bytes
constexpr double opacities_per_depth = 100;       // ParaView's opacity unit per volume depth
constexpr double opaque = 0.999;                  // a finite length cannot be more opaque
constexpr int pieces = 16;                        // straight pieces that approximate the extinction curve

Json json_of_file(const std::filesystem::path& path) {
    constexpr const char* remedy = "give the JSON file that ParaView exports from its colour map editor";
    return parsed_json(whole_file(path, longest_json, "is not a colour map of at most 1 MiB", remedy), path.string(),
                       remedy);
}

// ParaView writes a list of maps, usually with one element.
const Json& first_map(const Json& json, const std::string& file) {
    const Json& map = json.is_array() && !json.empty() ? json.front() : json;
    if (map.is_object() && map.contains("RGBPoints")) return map;
    throw Error(ErrorCode::bad_setting, "has no colours", file + ", RGBPoints",
                "export a colour map with points; indexed colours are not supported");
}

std::vector<double> numbers_of(const Json& list, const std::string& where) {
    const bool is_list = list.is_array() && std::ranges::all_of(list, [](const Json& one) { return one.is_number(); });
    if (!is_list) throw Error(ErrorCode::bad_setting, "is not a list of numbers", where, "export the map again");
    return list.get<std::vector<double>>();
}

// Adds a point between each two where the opacity reaches the middle, as given by the midpoint.
std::vector<double> straight_opacities(const std::vector<double>& points, const std::string& where) {
    check_rows({points, 4, where}, 2);
    std::vector<double> straight;
    for (std::size_t i = 0; i < points.size(); i += 4) {
        straight.insert(straight.end(), {points[i], points[i + 1]});
        if (i + 4 == points.size()) break;
        const double middle = points[i + 2];
        if (points[i + 3] != 0 || middle <= 0 || middle >= 1) {
            throw Error(ErrorCode::bad_setting, "has a sharpness other than 0, or a midpoint outside 0 .. 1", where,
                        "in ParaView use straight lines for the opacity");
        }
        straight.insert(straight.end(),
                        {std::lerp(points[i], points[i + 4], middle), 0.5 * (points[i + 1] + points[i + 5])});
    }
    return straight;
}

// Opacity a over a length l corresponds to extinction -ln(1 - a) / l, so straight lines in opacity become curves in
// extinction.
std::vector<double> extinctions_of(const std::vector<double>& opacities, const std::string& where) {
    const PointList list{opacities, 2, where};
    std::vector<double> extinctions;
    const auto add = [&](double value, double opacity) {
        extinctions.insert(extinctions.end(),
                           {value, -opacities_per_depth * std::log(1 - std::clamp(opacity, 0.0, opaque))});
    };
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
        const double from = opacities[2 * i + 1];
        const double to = opacities[2 * i + 3];
        const int count = from == to ? 1 : pieces;
        for (int piece = 0; piece < count; ++piece) {
            const double part = static_cast<double>(piece) / count;
            add(std::lerp(list.value(i), list.value(i + 1), part), std::lerp(from, to, part));
        }
    }
    add(opacities[opacities.size() - 2], opacities.back());
    return extinctions;
}

std::vector<double> gray_extinctions(double first, double last) {
    std::vector<double> extinctions;
    for (const TransferNode& node : preset_curve("gray", {}).nodes) {
        extinctions.insert(extinctions.end(), {std::lerp(first, last, node.value), node.extinction});
    }
    return extinctions;
}

bool spans(const TransferCurve& curve, double low, double high) {
    return curve.nodes.front().value == low && curve.nodes.back().value == high;
}

// Reads the first map of the file, with linear interpolation between points in any colour space. Values from 0 to 1 or
// -1 to 1, as in ParaView's presets, are relative; others are absolute. ParaView's opacity applies to about a voxel;
// here, to a hundredth of the volume's depth. Without opacity, that of preset gray is used. Throws Error{bad_file,
// bad_setting}.
TransferCurve read_paraview(const std::filesystem::path& path) {
    const std::string file = path.string();
    const Json json = json_of_file(path);
    const Json& map = first_map(json, file);
    const std::vector<double> colours = numbers_of(map["RGBPoints"], file + ", RGBPoints");
    const PointList colour_list{colours, 4, file + ", RGBPoints"};
    check_rows(colour_list, 2);
    const std::string where = file + ", Points";
    const std::vector<double> extinctions =
        map.contains("Points") ? extinctions_of(straight_opacities(numbers_of(map["Points"], where), where), where)
                               : gray_extinctions(colour_list.value(0), colour_list.value(colour_list.size() - 1));
    TransferCurve curve{.nodes = joined(colour_list, {extinctions, 2, where})};
    curve.is_relative = spans(curve, 0, 1) || spans(curve, -1, 1);
    return curve;
}

}  // namespace

// ---- Text

constexpr std::int64_t newest_version = 2;

static std::optional<TransferPlane> plane_of(const TransferText& text, const std::string& section) {
    const WidgetLists lists{text.boxes, text.arcs, text.strokes};
    const bool has_widgets = !text.boxes.empty() || !text.arcs.empty() || !text.strokes.empty();
    if (text.second.empty() && !has_widgets && text.second_range.empty()) return {};
    const auto axis = std::ranges::find(second_axis_names, text.second);
    if (axis == second_axis_names.end()) {
        throw Error(ErrorCode::bad_setting, "'" + text.second + "' is not a second axis", section + "second",
                    "choose gradient, curvature or distance");
    }
    const std::vector<double>& ends = text.second_range;
    if (ends.size() != 2 || !(ends[0] < ends[1])) {
        throw Error(ErrorCode::bad_setting, "must be the two ends of the second axis, the lower one first",
                    section + "second_range", "write for example [0, 2]");
    }
    return TransferPlane{static_cast<SecondAxis>(axis - second_axis_names.begin()), ends[0], ends[1],
                         widgets_of(lists, section)};
}

// A file with widgets but no extinctions shows only the widgets.
static std::vector<double> extinctions_in(const TransferText& text) {
    if (text.second.empty() || !text.extinctions.empty() || text.colours.size() < 8) return text.extinctions;
    return {text.colours.front(), 0, text.colours[text.colours.size() - 4], 0};
}

// Fields that are only written if they are used, so that older versions can read the file.
static bool is_of_two_axes(const BoundField& field) {
    return field.name == "roughness" || field.name == "boxes" || field.name == "arcs" || field.name == "strokes" ||
           field.name.starts_with("second");
}

static std::string toml_of_text(TransferText text) {
    Settings settings;
    settings.bind("transfer", text);
    return settings.toml_where(
        [](const BoundField& field) { return !is_of_two_axes(field) || field.get() != field.default_value; });
}

template <>
const std::vector<Field<TransferText>>& describe<TransferText>() {
    using T = TransferText;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<T>> fields{
        integer<T>("version", &T::version, 1, 1e6, "", view, "of this format"),
        text<T>("unit", &T::unit, view, "of the values"),
        flag<T>("relative", &T::relative, view, "the values have no absolute meaning"),
        number<T>("length_um", &T::length_um, 0, 1e9, "um", view, "length over which extinction counts"),
        numbers<T>("colours", &T::colours, lowest_value, highest_value, "", view, "value, red, green, blue ..."),
        numbers<T>("extinctions", &T::extinctions, lowest_value, highest_value, "", view, "value, extinction ..."),
        numbers<T>("roughness", &T::roughness, lowest_value, highest_value, "", view, "value, roughness ..."),
        text<T>("second", &T::second, view, "second axis: gradient, curvature or distance"),
        numbers<T>("second_range", &T::second_range, lowest_value, highest_value, "", view, "ends of the second axis"),
        numbers<T>("boxes", &T::boxes, lowest_value, highest_value, "", view,
                   "value low, high, second low, high, softness, red, green, blue, extinction ..."),
        numbers<T>("arcs", &T::arcs, lowest_value, highest_value, "", view,
                   "value low, high, height, width, softness, red, green, blue, extinction ..."),
        numbers<T>("strokes", &T::strokes, lowest_value, highest_value, "", view,
                   "width, softness, red, green, blue, extinction, points, value and second of each ..."),
    };
    return fields;
}

TransferText text_of(const TransferCurve& curve) {
    TransferText text{.unit = curve.unit, .relative = curve.is_relative, .length_um = curve.length_um};
    for (const TransferNode& node : curve.nodes) {
        text.colours.insert(text.colours.end(), {node.value, node.red, node.green, node.blue});
        text.extinctions.insert(text.extinctions.end(), {node.value, node.extinction});
        if (node.roughness != no_roughness) text.roughness.insert(text.roughness.end(), {node.value, node.roughness});
    }
    if (curve.plane) {
        const WidgetLists lists = lists_of(*curve.plane);
        text.second = second_axis_names[static_cast<std::size_t>(curve.plane->second)];
        text.second_range = {curve.plane->from, curve.plane->to};
        text.boxes = lists.boxes;
        text.arcs = lists.arcs;
        text.strokes = lists.strokes;
    }
    if (curve.plane || !text.roughness.empty()) text.version = 2;
    return text;
}

TransferCurve curve_of(const TransferText& text, const std::string& where) {
    const std::string section = where + ", transfer.";
    if (text.version > newest_version) {
        throw Error(ErrorCode::bad_setting, "is newer than this program, which reads versions 1 and 2",
                    section + "version", "use a newer Echolux");
    }
    const std::vector<double> extinctions = extinctions_in(text);
    return {.nodes = joined({text.colours, 4, section + "colours"}, {extinctions, 2, section + "extinctions"},
                            {text.roughness, 2, section + "roughness"}),
            .unit = text.unit,
            .is_relative = text.relative,
            .length_um = text.length_um,
            .plane = plane_of(text, section)};
}

std::string toml_of(const std::optional<TransferCurve>& curve) {
    if (!curve) return {};
    return toml_of_text(text_of(*curve));
}

std::optional<TransferCurve> curve_of_toml(const std::string& toml) {
    if (toml.empty()) return std::nullopt;
    const std::string where = "view.transfer_curve";
    TransferText text;
    Settings settings;
    settings.bind("transfer", text);
    settings.take(toml_entries(toml, where));
    return curve_of(text, where);
}

// ---- Files

static bool has_suffix(const std::filesystem::path& path, std::string_view wanted) {
    return lower_ending(path) == wanted;
}

TransferCurve read_transfer(const std::filesystem::path& path) {
    if (has_suffix(path, ".json")) return read_paraview(path);
    TransferText text;
    Settings settings;
    settings.bind("transfer", text);
    settings.read_toml(path);
    return curve_of(text, path.string());
}

void check_transfer_name(const std::filesystem::path& path) {
    if (has_suffix(path, ".toml")) return;
    throw Error(ErrorCode::bad_setting, "transfer functions are written as TOML", path.string(), "name it *.toml");
}

void write_transfer(const std::filesystem::path& path, const TransferCurve& curve) {
    check_transfer_name(path);
    write_text(path, toml_of(curve));
}

void load_transfer(View& view) {
    if (!view.transfer.empty()) view.transfer_curve = read_transfer(view.transfer);
    load_own_preset(view);
    load_sky(view);
}

void load_own_preset(View& view) {
    view.own_preset.reset();
    const std::filesystem::path own =
        view.preset == automatic_preset ? std::filesystem::path() : own_file(transfer_files, view.preset);
    if (!own.empty()) view.own_preset = read_transfer(own);
}

TransferCurve curve_in_use(const View& view, const VolumeGrid& grid, const TransferFunction& function) {
    TransferCurve curve{.nodes = function.nodes, .unit = grid.unit, .plane = function.plane};
    if (curve.plane) {
        for (TransferWidget& widget : curve.plane->widgets) widget.extinction *= view.opacity;
    }
    for (TransferNode& node : curve.nodes) node.extinction *= view.opacity;
    const bool is_length_known = std::ranges::any_of(grid.spacing_um, [](double spacing) { return spacing > 0; });
    const bool is_length_given =
        view.opacity_length_um > 0 || (view.transfer_curve && view.transfer_curve->length_um > 0);
    if (is_length_known || is_length_given) curve.length_um = function.length;
    return curve;
}

// ---- Sky

void load_sky(View& view) {
    view.sky_read.reset();
    if (view.sky_picture.empty()) return;
    const Picture picture = read_png(view.sky_picture);
    view.sky_read = std::make_shared<const SkyPicture>(
        sky_picture(picture.width, picture.height, picture.channels, picture.pixels));
}

}  // namespace echolux
