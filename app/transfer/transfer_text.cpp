#include "app/transfer/transfer_text.h"

#include "app/transfer/transfer_points.h"
#include "compute/error.h"
#include "engine/scan/section_toml.h"

namespace echolux {
namespace {

constexpr std::int64_t newest_version = 1;

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
    };
    return fields;
}

TransferText text_of(const TransferCurve& curve) {
    TransferText text{.unit = curve.unit, .relative = curve.is_relative, .length_um = curve.length_um};
    for (const TransferNode& node : curve.nodes) {
        text.colours.insert(text.colours.end(), {node.value, node.red, node.green, node.blue});
        text.extinctions.insert(text.extinctions.end(), {node.value, node.extinction});
    }
    return text;
}

TransferCurve curve_of(const TransferText& text, const std::string& where) {
    const std::string section = where + ", transfer.";
    if (text.version > newest_version) {
        throw Error(ErrorCode::bad_setting, "is newer than this program, which reads version 1", section + "version",
                    "use a newer Echolux");
    }
    return {.nodes = joined({text.colours, 4, section + "colours"}, {text.extinctions, 2, section + "extinctions"}),
            .unit = text.unit,
            .is_relative = text.relative,
            .length_um = text.length_um};
}

std::string toml_of(const std::optional<TransferCurve>& curve) {
    if (!curve) return {};
    return section_toml("transfer", text_of(*curve));
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
