#include "app/transfer/transfer_file.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "app/transfer/paraview_file.h"
#include "app/transfer/sky_file.h"
#include "app/transfer/transfer_text.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/scan/settings.h"
#include "render/view/curve.h"

namespace echolux {
namespace {

bool has_suffix(const std::filesystem::path& path, std::string_view wanted) {
    return lower_ending(path) == wanted;
}

}  // namespace

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

}  // namespace echolux
