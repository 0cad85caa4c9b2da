// Geometry that accompanies a volume: depth limits that vary over the lateral plane, and positions of separate B-scans.
#pragma once

#include <cstdint>
#include <glm/vec4.hpp>
#include <vector>

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// ---- Depth limits that vary over the lateral plane. Depths are in um from zero delay (see VolumeGrid::first_depth_um;
// rows if the spacing is unknown), so a map is valid for any crop of a scan.

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

// ---- Separate B-scans in space, such as crossed or parallel slices: their positions, and the field around them that
// replaces the volume wherever a view needs its size.

// Centres of the first and last A-scan of a B-scan, relative to the centre of the field: x along the A-scans of a
// raster, y across its B-scans.
struct BScanPose {
    double first_x_mm = 0, first_y_mm = 0;
    double last_x_mm = 0, last_y_mm = 0;
};

struct ScanField {
    VolumeGrid grid;                 // of the volume, but with a single lateral voxel as wide as all planes
    std::vector<glm::dvec4> planes;  // lateral, 0 to 1 across the field: xy: first A-scan; zw: vector to the last
};

// Throws Error{bad_setting} unless there is exactly one pose per B-scan, and at most four.
ScanField scan_field(const std::vector<BScanPose>& poses, const VolumeGrid& volume);

// Returns the view without the settings that need a volume, such as lighting and slices. Throws Error{bad_setting} for
// sections.
View plane_view(View view);

}  // namespace echolux
