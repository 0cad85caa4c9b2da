// Heights over the lateral plane between which a volume is seen: depths in micrometres from zero delay (see
// VolumeGrid::first_depth_um; rows where the spacing is unknown), so that a map holds for any crop of a scan.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/types.h"
#include "render/view/cut.h"

namespace echolux {

// What view.top_from and view.bottom_from name: [b_scan][a_scan] depths in um, spread over the whole lateral plane;
// empty where they name nothing.
struct HeightMaps {
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    std::vector<float> top_um;
    std::vector<float> bottom_um;

    bool empty() const { return top_um.empty() && bottom_um.empty(); }
};

// Texture coordinates per micrometre of depth, and that of a depth.
double texture_per_um(const VolumeGrid& grid);
double depth_in_texture(const VolumeGrid& grid, double depth_um);

// What is added to what `top_from` and `bottom_from` name: nothing where a map has no offset.
double top_added_um(const Cut& cut);
double bottom_added_um(const Cut& cut);

// Whether a view's heights vary over the lateral plane.
bool has_height_maps(const Cut& cut);

// Throws Error{bad_setting} where a map is not of its size.
void check_heights(const HeightMaps& maps);

}  // namespace echolux
