// Positions of a scan's B-scans in space, for the renderer.
#pragma once

#include <vector>

#include "compute/plan/params.h"
#include "render/scan_geometry.h"

namespace echolux {

// Returns poses for a scan of a few planes (cross, four slices) whose volume has `slices` of them. Empty for a volume.
std::vector<BScanPose> poses_of(const ScanGeometry& geometry, std::int64_t slices);

}  // namespace echolux
