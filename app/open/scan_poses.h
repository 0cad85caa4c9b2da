// Where the B-scans of a scan lie in space, for the renderer.
#pragma once

#include <vector>

#include "compute/plan/params.h"
#include "render/scan_planes.h"

namespace echolux {

// Of a scan of a few planes (cross, four slices) whose volume has `slices` of them; none: a volume.
std::vector<BScanPose> poses_of(const ScanGeometry& geometry, std::int64_t slices);

}  // namespace echolux
