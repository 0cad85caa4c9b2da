#include "app/open/scan_poses.h"

#include "engine/scan/scan_pattern.h"

namespace echolux {

std::vector<BScanPose> poses_of(const ScanGeometry& geometry, std::int64_t slices) {
    const bool is_of_planes = geometry.protocol == Protocol::cross || geometry.protocol == Protocol::four_slices;
    if (!is_of_planes || slices != geometry.b_scans) return {};
    constexpr double mm = 1e-3;
    std::vector<BScanPose> poses;
    for (const auto& [first, last] : scan_planes(geometry)) {
        poses.push_back({mm * first.x_um, mm * first.y_um, mm * last.x_um, mm * last.y_um});
    }
    return poses;
}

}  // namespace echolux
