// Separate B-scans in space, such as crossed or parallel slices: their positions, and the field around them that
// replaces the volume wherever a view needs its size.
#pragma once

#include <glm/vec4.hpp>
#include <vector>

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// Centres of the first and last A-scan of a B-scan, relative to the centre of the field: x along the A-scans of a
// raster, y across its B-scans.
struct BScanPose {
    double first_x_mm = 0, first_y_mm = 0;
    double last_x_mm = 0, last_y_mm = 0;
};

struct ScanField {
    VolumeGrid grid;                 // grid of the volume, but a single lateral voxel as wide as all planes
    std::vector<glm::dvec4> planes;  // lateral, 0 to 1 across the field: xy: first A-scan; zw: vector to the last
};

// Throws Error{bad_setting} unless there is exactly one pose per B-scan, and at most four.
ScanField scan_field(const std::vector<BScanPose>& poses, const VolumeGrid& volume);

// Returns the view without the settings that need a volume, such as lighting and slices. Throws Error{bad_setting} for
// sections.
View plane_view(View view);

}  // namespace echolux
