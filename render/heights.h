// Depth limits that vary over the lateral plane. Depths are in um from zero delay (see VolumeGrid::first_depth_um; rows
// if the spacing is unknown), so a map is valid for any crop of a scan.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/types.h"
#include "render/view/cut.h"

namespace echolux {

// Content of view.top_from and view.bottom_from: depths in um, [b_scan][a_scan], spanning the whole lateral plane.
// Empty without a map.
struct HeightMaps {
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    std::vector<float> top_um;
    std::vector<float> bottom_um;

    bool empty() const { return top_um.empty() && bottom_um.empty(); }
};

// Return the texture coordinates per um of depth, and the texture coordinate of a depth.
double texture_per_um(const VolumeGrid& grid);
double depth_in_texture(const VolumeGrid& grid, double depth_um);

// Return the offset from the map named by `top_from` or `bottom_from`: 0 if a map has no offset.
double top_added_um(const Cut& cut);
double bottom_added_um(const Cut& cut);

// Returns true if the depth limits of a view vary over the lateral plane.
bool has_height_maps(const Cut& cut);

// Throws Error{bad_setting} if a map does not match its size.
void check_heights(const HeightMaps& maps);

}  // namespace echolux
