#include "compute/plan/scan_order.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"

namespace echolux {
namespace {

// Returns the beam position at each recorded line.
std::vector<double> beam_positions(const ScanGeometry& geometry, const Calibration& calibration) {
    if (geometry.fast_axis == FastAxis::file) return calibration.fast_axis;
    std::vector<double> positions = counted(geometry.a_scans);
    const auto last = static_cast<double>(geometry.a_scans - 1);
    const double end = std::numbers::pi / 2 * geometry.sinusoidal_part;
    for (double& position : positions) position = std::sin(end * (2 * position / last - 1));
    return positions;
}

}  // namespace

std::vector<LineMix> line_mixes(const ScanGeometry& geometry, const Calibration& calibration) {
    if (geometry.fast_axis == FastAxis::uniform) return {};
    const std::vector<double> beam = beam_positions(geometry, calibration);
    const double step = (beam.back() - beam.front()) / static_cast<double>(geometry.a_scans - 1);
    const auto along = [&](std::int64_t line) { return (beam[index(line)] - beam.front()) / step; };
    std::vector<LineMix> mixes;
    std::int64_t first = 0;
    for (std::int64_t a = 0; a < geometry.a_scans; ++a) {
        const auto wanted = static_cast<double>(a);
        while (first + 2 < geometry.a_scans && along(first + 1) <= wanted) ++first;
        const double next = (wanted - along(first)) / (along(first + 1) - along(first));
        mixes.push_back({static_cast<std::int32_t>(first), static_cast<float>(std::min(1.0, std::max(0.0, next)))});
    }
    return mixes;
}

}  // namespace echolux
