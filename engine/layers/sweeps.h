// One boundary made smooth in both directions: semi-global sweeps along A-scans and B-scans, to and fro, at the same
// depth, over its costs in all A-scans (H. Hirschmueller, IEEE TPAMI 30, 328, 2008).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/layers.h"
#include "engine/layers/lateral.h"

namespace echolux {

// `costs`: [A-scan][lane], `rows`: of the label in the middle.
SweptBoundary swept(const std::vector<float>& costs, const std::vector<std::int32_t>& rows, const MapSize& size,
                    const SweepStep& step);

}  // namespace echolux
