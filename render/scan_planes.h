// B-scans that are planes in space, as crossed and parallel slices are: where they lie, and the field that they stand
// in, which takes the place of the volume wherever a view asks for its size.
#pragma once

#include <glm/vec4.hpp>
#include <vector>

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// Where the middles of a B-scan's first and last A-scan lie, from the middle of the field: x runs along the A-scans of
// a raster, y across its B-scans.
struct BScanPose {
    double first_x_mm = 0, first_y_mm = 0;
    double last_x_mm = 0, last_y_mm = 0;
};

struct ScanField {
    VolumeGrid grid;                 // of the volume, but one voxel across: as wide as all planes are
    std::vector<glm::dvec4> planes;  // across the field, 0 to 1: the first A-scan, from there to the last
};

// Throws Error{bad_setting} where there is not one pose for each B-scan, or more than four.
ScanField scan_field(const std::vector<BScanPose>& poses, const VolumeGrid& volume);

// What of a view planes can follow: light and slices need a volume. Throws Error{bad_setting} for sections.
View plane_view(View view);

}  // namespace echolux
