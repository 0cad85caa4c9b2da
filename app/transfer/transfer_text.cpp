#include "app/transfer/transfer_text.h"

#include <algorithm>

#include "app/transfer/transfer_points.h"
#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

constexpr std::int64_t newest_version = 2;

std::optional<TransferPlane> plane_of(const TransferText& text, const std::string& section) {
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
        throw Error(ErrorCode::bad_setting, "is not the two ends of the second axis, the lower one first",
                    section + "second_range", "write for example [0, 2]");
    }
    return TransferPlane{static_cast<SecondAxis>(axis - second_axis_names.begin()), ends[0], ends[1],
                         widgets_of(lists, section)};
}

// A file with widgets but no extinctions shows only the widgets.
std::vector<double> extinctions_in(const TransferText& text) {
    if (text.second.empty() || !text.extinctions.empty() || text.colours.size() < 8) return text.extinctions;
    return {text.colours.front(), 0, text.colours[text.colours.size() - 4], 0};
}

// Fields that are only written if they are used, so that older versions can read the file.
bool is_of_two_axes(const BoundField& field) {
    return field.name == "roughness" || field.name == "boxes" || field.name == "arcs" || field.name == "strokes" ||
           field.name.starts_with("second");
}

std::string toml_of_text(TransferText text) {
    Settings settings;
    settings.bind("transfer", text);
    return settings.toml_where(
        [](const BoundField& field) { return !is_of_two_axes(field) || field.get() != field.default_value; });
}

}  // namespace

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

}  // namespace echolux
