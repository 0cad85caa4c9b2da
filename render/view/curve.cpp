#include "render/view/curve.h"

#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/colour_maps.h"
#include "render/view/presets.h"

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
        named("preset", &Curve::preset, presets, "colour and opacity; automatic: tissue for dB, gray for all else"),
        text<Curve>("transfer", &Curve::transfer, view,
                    "file of a transfer function, in place of the preset: own TOML or a ParaView colour map (JSON)")
            .file({".toml", ".json"}),
        named("colour_map", &Curve::colour_map, maps, "colour map that replaces the preset's colours"),
        number<Curve>("low", &Curve::low, lowest_value, highest_value, "value", view,
                      "value where the preset begins; auto (-1e12): from the preset where it knows the unit, else "
                      "the volume's 1st percentile")
            .special(-1e12, "auto"),
        number<Curve>("high", &Curve::high, lowest_value, highest_value, "value", view,
                      "value where the preset ends; auto (1e12): from the preset where it knows the unit, else the "
                      "volume's 99.9th percentile")
            .special(1e12, "auto"),
        choice<Curve>(
            "range", &Curve::range, {"fixed", "percentile"}, view,
            "how automatic low and high behave over time: fixed stays as first chosen, percentile follows each volume"),
        number<Curve>("opacity", &Curve::opacity, 0, 1000, "", view, "factor on the preset's extinction")
            .soft(0.01, 100),
        number<Curve>("opacity_length_um", &Curve::opacity_length_um, 0, 1e9, "um", view,
                      "length over which extinction counts; 0: that of the file, else the volume's depth")
            .special(0, "auto"),
        number<Curve>("isovalue", &Curve::isovalue, lowest_value, highest_value, "value", view,
                      "value of the isosurface; auto (-1e12): half way from low to high")
            .special(-1e12, "auto"),
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
                "exchange them, or leave one out for automatic");
}

}  // namespace echolux
