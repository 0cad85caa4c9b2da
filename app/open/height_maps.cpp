#include "app/open/height_maps.h"

#include <map>

#include "compute/error.h"
#include "engine/analysis/tissue_structure.h"
#include "engine/io/number_file.h"

namespace echolux {
namespace {

using Rows = std::vector<float>;

// Converts rows of depth and micrometres from zero delay; only rows if the spacing is unknown.
struct Scale {
    double first_um, row_um;

    explicit Scale(const VolumeGrid& grid)
        : first_um(grid.spacing_um[0] > 0 ? grid.first_depth_um : 0),
          row_um(grid.spacing_um[0] > 0 ? grid.spacing_um[0] : 1) {}

    float row(float um) const { return static_cast<float>((static_cast<double>(um) - first_um) / row_um); }
    float um(float row) const { return static_cast<float>(first_um + static_cast<double>(row) * row_um); }
};

Rows rows_of(const std::string& name, const Volume& volume) {
    if (name == "surface") return tissue_surface(volume);
    if (name.starts_with("layers:")) {
        throw Error(ErrorCode::bad_setting, "is a surface that was found in the window, and in no file", name,
                    "choose \"surface\", or a height map");
    }
    Rows rows = read_heights(name, volume.grid.a_scans, volume.grid.b_scans);
    const Scale scale(volume.grid);
    for (float& height : rows) height = scale.row(height);
    return rows;
}

std::vector<float> in_um(Rows rows, const VolumeGrid& grid) {
    const Scale scale(grid);
    for (float& row : rows) row = scale.um(row);
    return rows;
}

}  // namespace

HeightMaps prepared_heights(const Cut& cut, Volume& volume) {
    std::map<std::string, Rows> named;  // each map is read or found once
    for (const std::string& name : {cut.top_from, cut.bottom_from, cut.flatten}) {
        if (!name.empty() && !named.contains(name)) named.emplace(name, rows_of(name, volume));
    }
    if (!cut.flatten.empty()) {
        const Rows moved = named.at(cut.flatten);
        const auto level = static_cast<float>(flat_row(moved));
        flatten(volume, moved);
        for (auto& [name, rows] : named) {
            for (std::size_t i = 0; i < rows.size(); ++i) rows[i] -= moved[i] - level;
        }
    }
    HeightMaps maps{.a_scans = volume.grid.a_scans, .b_scans = volume.grid.b_scans, .top_um = {}, .bottom_um = {}};
    if (!cut.top_from.empty()) maps.top_um = in_um(named.at(cut.top_from), volume.grid);
    if (!cut.bottom_from.empty()) maps.bottom_um = in_um(named.at(cut.bottom_from), volume.grid);
    return maps;
}

}  // namespace echolux
