#include "render/view/curve.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <glm/common.hpp>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>
#include <string>

#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"

namespace echolux {
namespace {

// A text field that accepts the given names only.
Field<Curve> named(std::string_view name, std::string Curve::*member, const std::vector<std::string>& names,
                   std::string_view help) {
    Field<Curve> field = text<Curve>(name, member, Effect::view, help);
    field.choices.assign(names.begin(), names.end());
    return field;
}

}  // namespace

template <>
const std::vector<Field<Curve>>& describe<Curve>() {
    constexpr Effect view = Effect::view;
    static const std::vector<std::string> presets = asset_names(transfer_files, std::string(automatic_preset));
    static const std::vector<std::string> maps = asset_names(colour_map_files, "preset");
    static const std::vector<Field<Curve>> fields{
        named("preset", &Curve::preset, presets,
              "preset of colour and opacity; automatic: tissue for dB, otherwise gray")
            .found_by("colour opacity"),
        text<Curve>("transfer", &Curve::transfer, view,
                    "transfer function file that replaces the preset: Echolux TOML or ParaView colour map (JSON)")
            .file({".toml", ".json"})
            .in("Curve"),
        named("colour_map", &Curve::colour_map, maps, "colour map that replaces the colours of the preset")
            .in("Curve")
            .found_by("palette lut"),
        number<Curve>("low", &Curve::low, lowest_value, highest_value, "value", view,
                      "lower end of the window; auto (-1e12): from the preset if it has the volume's unit, otherwise "
                      "the 1st percentile of the volume")
            .special(-1e12, "auto")
            .in("Range")
            .found_by("brightness contrast window level black minimum"),
        number<Curve>("high", &Curve::high, lowest_value, highest_value, "value", view,
                      "upper end of the window; auto (1e12): from the preset if it has the volume's unit, otherwise "
                      "the 99.9th percentile of the volume")
            .special(1e12, "auto")
            .in("Range")
            .found_by("brightness contrast window level white maximum"),
        choice<Curve>("range", &Curve::range, {"fixed", "percentile"}, view,
                      "automatic low and high over time: fixed keeps the first values, percentile follows each volume")
            .in("Range"),
        number<Curve>("opacity", &Curve::opacity, 0, 1000, "", view, "opacity: factor on the extinction of the preset")
            .soft(0.01, 100)
            .in("Range")
            .found_by("transparency alpha density"),
        number<Curve>("opacity_length_um", &Curve::opacity_length_um, 0, 1e9, "um", view,
                      "unit length of extinction; 0: from the file, otherwise the depth of the volume")
            .special(0, "auto")
            .in("Curve"),
        number<Curve>("isovalue", &Curve::isovalue, lowest_value, highest_value, "value", view,
                      "value of the isosurface; auto (-1e12): half way from low to high")
            .special(-1e12, "auto")
            .in("Mode")
            .only_while("view.mode", {"isosurface"})
            .or_while("view.isosurface", {"true"}),
    };
    return fields;
}

void check_part(const Curve& curve) {
    if (!curve.transfer.empty() && !curve.transfer_curve) {
        throw Error(ErrorCode::bad_setting, "the file has not been read", "view.transfer",
                    "read it with read_transfer");
    }
    if (!curve.own_preset && !is_shipped_preset(curve.preset)) {
        throw Error(ErrorCode::bad_setting, "the file of the preset '" + curve.preset + "' has not been read",
                    "view.preset", "read it with load_transfer");
    }
    if (curve.colour_map != "preset") colour_map(curve.colour_map);
    if (curve.low < curve.high) return;
    throw Error(ErrorCode::bad_setting, "low is not below high", "view.low, view.high",
                "swap them, or remove one for automatic");
}

// ---- Curve plane

namespace {

constexpr std::size_t row_length = 9;   // numbers per box or arc
constexpr std::size_t stroke_head = 7;  // numbers per stroke before its points
constexpr std::size_t most_widgets = 64;
constexpr std::size_t most_points = 1024;  // per stroke
constexpr double largest_number = 1e12;
constexpr double largest_extinction = 1e6;

// Returns 1 inside and 0 outside, with a linear ramp from the rim (0) to `softness`. `inside` is 0 at the rim and 1 at
// the centre.
double faded(double inside, double softness) {
    if (inside < 0) return 0;
    return softness > 0 ? std::min(inside / softness, 1.0) : 1;
}

// Returns the position within a span: 0 at its ends, 1 at its centre, negative outside. An end at or beyond the end of
// the axis counts as infinitely far away.
double inside_span(double at, double low, double high, double axis_low, double axis_high) {
    constexpr double far = std::numeric_limits<double>::infinity();
    const double half = 0.5 * (high - low);
    const double from_low = low <= axis_low ? far : at - low;
    const double from_high = high >= axis_high ? far : high - at;
    const double nearest = std::min(from_low, from_high);
    return half > 0 ? nearest / half : nearest < 0 ? -1 : 1;
}

double box_weight(const TransferWidget& box, const PlanePoint& at, const PlaneReach& reach) {
    const PlanePoint &low = box.points[0], &high = box.points[1];
    const double across = inside_span(at.value, low.value, high.value, reach.value_low, reach.value_high);
    const double up = inside_span(at.second, low.second, high.second, reach.second_low, reach.second_high);
    return faded(std::min(across, up), box.softness);
}

// The arc is a parabola through both feet with its apex in the middle. Its width grows with its height.
double arc_weight(const TransferWidget& arc, const PlanePoint& at) {
    const double left = arc.points[0].value, right = arc.points[1].value;
    const double part = (at.value - left) / (right - left);
    if (part < 0 || part > 1) return 0;
    const double height = arc.points[0].second;
    const double middle = 4 * height * part * (1 - part);
    if (middle == 0) return 0;  // inside a material
    return faded(1 - std::abs(at.second - middle) / (arc.width * std::abs(middle)), arc.softness);
}

// Returns the distance to a line segment with the axes scaled by `per_value` and `per_second`.
double distance_to_line(const PlanePoint& at, const PlanePoint& a, const PlanePoint& b, double per_value,
                        double per_second) {
    const double x = (at.value - a.value) * per_value, y = (at.second - a.second) * per_second;
    const double along_x = (b.value - a.value) * per_value, along_y = (b.second - a.second) * per_second;
    const double square = along_x * along_x + along_y * along_y;
    const double part = square > 0 ? std::clamp((x * along_x + y * along_y) / square, 0.0, 1.0) : 0;
    return std::hypot(x - part * along_x, y - part * along_y);
}

// Distances are relative to the extent of the axes, so strokes look the same width in both directions.
double stroke_weight(const TransferWidget& stroke, const PlanePoint& at, const PlaneReach& reach) {
    const double per_value = 1 / (reach.value_high - reach.value_low);
    const double per_second = 1 / (reach.second_high - reach.second_low);
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < stroke.points.size(); ++i) {
        const PlanePoint& next = stroke.points[std::min(i + 1, stroke.points.size() - 1)];
        nearest = std::min(nearest, distance_to_line(at, stroke.points[i], next, per_value, per_second));
    }
    return faded(1 - nearest / stroke.width, stroke.softness);
}

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& remedy) {
    throw Error(ErrorCode::bad_setting, what, where, remedy);
}

void check_number(double number, double low, double high, const char* of, const std::string& where) {
    if (number >= low && number <= high) return;
    refuse(fmt::format("{} is {:g}, not between {:g} and {:g}", of, number, low, high), where, "correct the number");
}

// Checks the parts that all shapes have in common.
void check_look(const TransferWidget& widget, const std::string& where) {
    for (const PlanePoint& point : widget.points) {
        check_number(point.value, -largest_number, largest_number, "a value", where);
        check_number(point.second, -largest_number, largest_number, "a position on the second axis", where);
    }
    check_number(widget.softness, 0, 1, "a softness", where);
    for (const double part : widget.colour) check_number(part, 0, 1, "a colour component", where);
    check_number(widget.extinction, 0, largest_extinction, "an extinction", where);
}

void check_rows_of(std::span<const double> numbers, const std::string& where, const char* row) {
    if (numbers.size() % row_length == 0) return;
    refuse(fmt::format("has {}, not a multiple of {}", plural(numbers.size(), "numbers"), row_length), where,
           fmt::format("each has {}", row));
}

TransferWidget box_of(std::span<const double> row, const std::string& where) {
    TransferWidget box{.shape = WidgetShape::box,
                       .points = {{row[0], row[2]}, {row[1], row[3]}},
                       .softness = row[4],
                       .colour = {row[5], row[6], row[7]},
                       .extinction = row[8]};
    check_look(box, where);
    if (row[0] < row[1] && row[2] < row[3]) return box;
    refuse(fmt::format("a box from {:g} to {:g} by {:g} to {:g} has lower limits that are not below its upper limits",
                       row[0], row[1], row[2], row[3]),
           where, "write the lower limit first");
}

TransferWidget arc_of(std::span<const double> row, const std::string& where) {
    TransferWidget arc{.shape = WidgetShape::arc,
                       .points = {{row[0], row[2]}, {row[1], row[2]}},
                       .width = row[3],
                       .softness = row[4],
                       .colour = {row[5], row[6], row[7]},
                       .extinction = row[8]};
    check_look(arc, where);
    check_number(arc.width, 1e-3, 10, "a width", where);
    if (row[0] < row[1] && row[2] != 0) return arc;
    refuse(fmt::format("an arc from {:g} to {:g}, {:g} high, is empty", row[0], row[1], row[2]), where,
           "write the lower value first, and a height other than 0");
}

// Parses strokes, which differ in length: a head with the number of points, then the points.
std::vector<TransferWidget> strokes_of(std::span<const double> numbers, const std::string& where) {
    std::vector<TransferWidget> strokes;
    while (!numbers.empty()) {
        const double count = numbers.size() >= stroke_head ? numbers[stroke_head - 1] : 0;
        const bool is_whole = count >= 1 && count <= most_points && count == std::floor(count) &&
                              numbers.size() >= stroke_head + 2 * static_cast<std::size_t>(count);
        if (!is_whole) {
            refuse(
                fmt::format("stroke {} is incomplete", strokes.size() + 1), where,
                "each has width, softness, red, green, blue, extinction, its number of points (1 to 1024), then value "
                "and second axis of each");
        }
        TransferWidget stroke{.shape = WidgetShape::stroke,
                              .points = {},
                              .width = numbers[0],
                              .softness = numbers[1],
                              .colour = {numbers[2], numbers[3], numbers[4]},
                              .extinction = numbers[5]};
        numbers = numbers.subspan(stroke_head);
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            stroke.points.push_back({numbers[2 * i], numbers[2 * i + 1]});
        }
        numbers = numbers.subspan(2 * stroke.points.size());
        check_look(stroke, where);
        check_number(stroke.width, 1e-4, 1, "a width", where);
        strokes.push_back(std::move(stroke));
    }
    return strokes;
}

void add_look(std::vector<double>& list, const TransferWidget& widget) {
    list.insert(list.end(), {widget.softness, widget.colour[0], widget.colour[1], widget.colour[2], widget.extinction});
}

}  // namespace

double weight_at(const TransferWidget& widget, const PlanePoint& at, const PlaneReach& reach) {
    switch (widget.shape) {
        case WidgetShape::box: return box_weight(widget, at, reach);
        case WidgetShape::arc: return arc_weight(widget, at);
        case WidgetShape::stroke: break;
    }
    return stroke_weight(widget, at, reach);
}

WidgetLists lists_of(const TransferPlane& plane) {
    WidgetLists lists;
    for (const TransferWidget& widget : plane.widgets) {
        if (widget.shape == WidgetShape::stroke) {
            lists.strokes.push_back(widget.width);
            add_look(lists.strokes, widget);
            lists.strokes.push_back(static_cast<double>(widget.points.size()));
            for (const PlanePoint& point : widget.points) {
                lists.strokes.insert(lists.strokes.end(), {point.value, point.second});
            }
            continue;
        }
        const PlanePoint &low = widget.points[0], &high = widget.points[1];
        if (widget.shape == WidgetShape::box) {
            lists.boxes.insert(lists.boxes.end(), {low.value, high.value, low.second, high.second});
            add_look(lists.boxes, widget);
        } else {
            lists.arcs.insert(lists.arcs.end(), {low.value, high.value, low.second, widget.width});
            add_look(lists.arcs, widget);
        }
    }
    return lists;
}

std::vector<TransferWidget> widgets_of(const WidgetLists& lists, const std::string& section) {
    check_rows_of(lists.boxes, section + "boxes",
                  "value low, high, second low, high, softness, red, green, blue, extinction");
    check_rows_of(lists.arcs, section + "arcs",
                  "value low, high, height, width, softness, red, green, blue, extinction");
    std::vector<TransferWidget> widgets;
    for (std::size_t i = 0; i < lists.boxes.size(); i += row_length) {
        widgets.push_back(box_of(std::span(lists.boxes).subspan(i, row_length), section + "boxes"));
    }
    for (std::size_t i = 0; i < lists.arcs.size(); i += row_length) {
        widgets.push_back(arc_of(std::span(lists.arcs).subspan(i, row_length), section + "arcs"));
    }
    std::ranges::move(strokes_of(lists.strokes, section + "strokes"), std::back_inserter(widgets));
    if (widgets.size() <= most_widgets) return widgets;
    refuse(fmt::format("has {} widgets, more than {}", widgets.size(), most_widgets), section + "boxes, arcs, strokes",
           "remove some");
}

std::string second_unit(SecondAxis second, const std::string& value_unit) {
    if (second == SecondAxis::distance) return "µm";
    const std::string short_name = value_unit.starts_with("dB ") ? "dB" : value_unit;
    return second == SecondAxis::curvature ? "1/µm" : short_name.empty() ? "per µm" : short_name + "/µm";
}

// ---- Presets

using Curves = std::map<std::string, TransferCurve, std::less<>>;

// Shipped files list colours and extinctions at the same values. They are not validated here: a test reads them with
// the validating parser.
static TransferCurve curve_of(const toml::table& transfer) {
    const toml::array& colours = *transfer["colours"].as_array();
    const toml::array& extinctions = *transfer["extinctions"].as_array();
    const auto colour = [&](std::size_t i, std::size_t column) { return colours[4 * i + column].value_or(0.0); };
    TransferCurve curve{.nodes = {},
                        .unit = transfer["unit"].value_or(std::string()),
                        .is_relative = transfer["relative"].value_or(false)};
    const auto numbers = [&](const char* key) {
        std::vector<double> list;
        if (const toml::array* array = transfer[key].as_array()) {
            for (const toml::node& node : *array) list.push_back(node.value_or(0.0));
        }
        return list;
    };
    if (transfer["second"]) {
        const std::vector<double> ends = numbers("second_range");
        const auto axis = std::ranges::find(second_axis_names, transfer["second"].value_or(std::string()));
        curve.plane = TransferPlane{static_cast<SecondAxis>(axis - second_axis_names.begin()), ends[0], ends[1],
                                    widgets_of({numbers("boxes"), numbers("arcs"), numbers("strokes")}, "transfer.")};
    }
    for (std::size_t i = 0; 4 * i < colours.size(); ++i) {
        curve.nodes.push_back(
            {colour(i, 0), colour(i, 1), colour(i, 2), colour(i, 3), extinctions[2 * i + 1].value_or(0.0)});
    }
    return curve;
}

// Parsed on first use and kept for the lifetime of the program.
static const Curves& shipped_curves() {
    static const Curves shipped = [] {
        Curves curves;
        for (const Asset& asset : assets_of(transfer_files, {})) {
            const toml::table file = toml::parse(shipped_text(transfer_files, asset.name));
            curves.emplace(asset.name, curve_of(*file["transfer"].as_table()));
        }
        return curves;
    }();
    return shipped;
}

// The preset that suits a quantity; gray makes no assumption about it.
static std::string_view automatic_name(const VolumeGrid& grid) {
    if (grid.quantity == "db") return "tissue";
    return grid.quantity == "reflectivity" ? "fourth-root" : "gray";
}

bool is_shipped_preset(std::string_view name) {
    return name == automatic_preset || shipped_curves().contains(name);
}

const TransferCurve& preset_curve(std::string_view preset, const VolumeGrid& grid) {
    const Curves& curves = shipped_curves();
    const auto found = curves.find(preset == automatic_preset ? automatic_name(grid) : preset);
    return found != curves.end() ? found->second : curves.at("gray");
}

// ---- Colour maps

constexpr std::size_t most_colours = 4096;
constexpr const char* form =
    "write one colour per line as red, green, blue in hexadecimal, e.g. 440154; comments begin with #";

static glm::dvec3 parsed_colour(const std::string& line, const std::string& where) {
    std::uint32_t packed = 0;
    const char* end = line.data() + line.size();
    const auto [stopped, problem] = std::from_chars(line.data(), end, packed, 16);
    if (line.size() == 6 && stopped == end && problem == std::errc()) {
        return glm::dvec3(packed >> 16 & 255, packed >> 8 & 255, packed & 255) / 255.0;
    }
    throw Error(ErrorCode::bad_file, "expected a colour of six hexadecimal digits, got \"" + line.substr(0, 40) + "\"",
                where, form);
}

// Skips empty lines and comments. Stops when there are too many colours.
static ColourMap parsed_map(std::istream& text, const std::string& file) {
    ColourMap map;
    std::size_t number = 0;
    for (std::string line; std::getline(text, line) && map.size() <= most_colours;) {
        ++number;
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty() && line.front() != '#') {
            map.push_back(parsed_colour(line, file + " line " + std::to_string(number)));
        }
    }
    if (map.size() >= 2 && map.size() <= most_colours) return map;
    throw Error(ErrorCode::bad_file, "is not a colour map of 2 to 4096 colours", file, form);
}

static ColourMap shipped_map(std::string_view name) {
    std::istringstream text{std::string(shipped_text(colour_map_files, name))};
    return parsed_map(text, std::string(name));
}

ColourMap colour_map(std::string_view name) {
    if (const std::filesystem::path file = own_file(colour_map_files, name); !file.empty()) {
        std::ifstream text(file, std::ios::binary);
        return parsed_map(text, file.string());
    }
    if (!shipped_text(colour_map_files, name).empty()) return shipped_map(name);
    throw Error(ErrorCode::bad_setting, "there is no colour map '" + std::string(name) + "'", "view.colour_map",
                "`presets` lists them");
}

const ColourMap& flow_map() {
    static const ColourMap map = shipped_map("flow");
    return map;
}

glm::dvec3 colour_at(const ColourMap& map, double level) {
    const double place = std::clamp(level, 0.0, 1.0) * static_cast<double>(map.size() - 1);
    const std::size_t before = std::min(static_cast<std::size_t>(place), map.size() - 2);
    return glm::mix(map[before], map[before + 1], place - static_cast<double>(before));
}

}  // namespace echolux
