#include "render/heights.h"

#include <fmt/format.h>

#include "compute/counted.h"
#include "compute/error.h"
#include "render/camera.h"

namespace echolux {
double texture_per_um(const VolumeGrid& grid) {
    return 1 / (voxel_edges(grid)[0] * static_cast<double>(grid.depth));
}

double depth_in_texture(const VolumeGrid& grid, double depth_um) {
    const double first = grid.spacing_um[0] > 0 ? grid.first_depth_um : 0;
    return (depth_um - first) * texture_per_um(grid) + 0.5 / static_cast<double>(grid.depth);
}

double top_added_um(const Cut& cut) {
    return !cut.top_from.empty() && cut.top_um == above_all_um ? 0 : cut.top_um;
}

double bottom_added_um(const Cut& cut) {
    return !cut.bottom_from.empty() && cut.bottom_um == below_all_um ? 0 : cut.bottom_um;
}

bool has_height_maps(const Cut& cut) {
    return !cut.top_from.empty() || !cut.bottom_from.empty();
}

void check_heights(const HeightMaps& maps) {
    for (const std::vector<float>& map : {maps.top_um, maps.bottom_um}) {
        if (map.empty() || std::ssize(map) == maps.a_scans * maps.b_scans) continue;
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("{} given for {} x {} A-scans", counted(map.size(), "heights"), maps.a_scans, maps.b_scans),
            "height map");
    }
}

}  // namespace echolux
