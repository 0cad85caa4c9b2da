#include "ui/app/transfer_file.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/settings.h"
#include "ui/app/paraview_file.h"
#include "ui/app/transfer_points.h"

namespace echolux {
namespace {

constexpr std::int64_t newest_version = 1;

// The keys of the section [transfer].
struct TransferText {
    std::int64_t version = newest_version;
    std::string unit;
    bool relative = false;
    double length_um = 0;
    std::vector<double> colours{};
    std::vector<double> extinctions{};
};

bool has_suffix(const std::filesystem::path& path, std::string_view wanted) {
    std::string suffix = path.extension().string();
    std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return suffix == wanted;
}

}  // namespace

template <>
const std::vector<Field<TransferText>>& describe<TransferText>() {
    using T = TransferText;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<T>> fields{
        integer<T>("version", &T::version, 1, 1e6, "", view, "of this format"),
        text<T>("unit", &T::unit, view, "of the values"),
        flag<T>("relative", &T::relative, view, "the values mean nothing by themselves"),
        number<T>("length_um", &T::length_um, 0, 1e9, "um", view, "that extinctions are counted over"),
        numbers<T>("colours", &T::colours, lowest_value, highest_value, "", view, "value, red, green, blue ..."),
        numbers<T>("extinctions", &T::extinctions, lowest_value, highest_value, "", view, "value, extinction ..."),
    };
    return fields;
}

TransferCurve read_transfer(const std::filesystem::path& path) {
    if (has_suffix(path, ".json")) return read_paraview(path);
    TransferText text;
    Settings settings;
    settings.bind("transfer", text);
    settings.read_toml(path);
    const std::string section = path.string() + ", transfer.";
    if (text.version > newest_version) {
        throw Error(ErrorCode::bad_setting, "is newer than this program, which reads version 1", section + "version",
                    "take a newer Echolux");
    }
    return {.nodes = joined({text.colours, 4, section + "colours"}, {text.extinctions, 2, section + "extinctions"}),
            .unit = text.unit,
            .is_relative = text.relative,
            .length_um = text.length_um};
}

void check_transfer_name(const std::filesystem::path& path) {
    if (has_suffix(path, ".toml")) return;
    throw Error(ErrorCode::bad_setting, "transfer functions are written as TOML", path.string(), "name it *.toml");
}

void write_transfer(const std::filesystem::path& path, const TransferCurve& curve) {
    check_transfer_name(path);
    TransferText text{.unit = curve.unit, .relative = curve.is_relative, .length_um = curve.length_um};
    for (const TransferNode& node : curve.nodes) {
        text.colours.insert(text.colours.end(), {node.value, node.red, node.green, node.blue});
        text.extinctions.insert(text.extinctions.end(), {node.value, node.extinction});
    }
    Settings settings;
    settings.bind("transfer", text);
    AtomicFile file(path);
    if (!(std::ofstream(file.temporary()) << settings.toml(true)).flush()) {
        throw Error(ErrorCode::output, "cannot be written", path.string(), "is the disk full?");
    }
    file.commit();
}

void load_transfer(View& view) {
    view.transfer_curve.reset();
    if (!view.transfer.empty()) view.transfer_curve = read_transfer(view.transfer);
}

TransferCurve curve_in_use(const View& view, const VolumeGrid& grid, const TransferFunction& function) {
    TransferCurve curve{.nodes = function.nodes, .unit = grid.unit};
    for (TransferNode& node : curve.nodes) node.extinction *= view.opacity;
    const bool is_length_known = std::ranges::any_of(grid.spacing_um, [](double spacing) { return spacing > 0; });
    const bool is_length_given =
        view.opacity_length_um > 0 || (view.transfer_curve && view.transfer_curve->length_um > 0);
    if (is_length_known || is_length_given) curve.length_um = function.length;
    return curve;
}

}  // namespace echolux
