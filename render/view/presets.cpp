#include "render/view/presets.h"

#include <toml++/toml.h>
#include <algorithm>
#include <functional>
#include <map>

#include "assets/assets.h"

namespace echolux {
namespace {

using Curves = std::map<std::string, TransferCurve, std::less<>>;

// Shipped files list colours and extinctions at the same values. They are not validated here: a test reads them with
// the validating parser.
TransferCurve curve_of(const toml::table& transfer) {
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
const Curves& shipped_curves() {
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
std::string_view automatic_name(const VolumeGrid& grid) {
    if (grid.quantity == "db") return "tissue";
    return grid.quantity == "reflectivity" ? "fourth-root" : "gray";
}

}  // namespace

bool is_shipped_preset(std::string_view name) {
    return name == automatic_preset || shipped_curves().contains(name);
}

const TransferCurve& preset_curve(std::string_view preset, const VolumeGrid& grid) {
    const Curves& curves = shipped_curves();
    const auto found = curves.find(preset == automatic_preset ? automatic_name(grid) : preset);
    return found != curves.end() ? found->second : curves.at("gray");
}

}  // namespace echolux
