// Smooths one boundary in both directions: semi-global sweeps of its costs along A-scans and B-scans, forwards and
// backwards, at constant depth (H. Hirschmueller, IEEE TPAMI 30, 328, 2008).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/layers.h"
#include "engine/layers/lateral.h"

namespace echolux {

// `costs` is [A-scan][lane], `rows` the row of the centre label per A-scan.
SweptBoundary swept(const std::vector<float>& costs, const std::vector<std::int32_t>& rows, const MapSize& size,
                    const SweepStep& step);

}  // namespace echolux
