// What speckle filters work by, made once from the settings and the volume, so that every processor has the same.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "compute/steps/speckle.h"

namespace echolux {

// Reaches, in voxels to either side, of the search and of the cubes that are compared, along depth, A-scans, B-scans.
struct NonLocalMeansTables {
    std::array<std::int64_t, 3> search{};
    std::int64_t patch = 0;
    PatchWeight weight{};
    float margin = 0;  // added to power
};

struct MedianTables {
    std::int64_t edge = 3;  // voxels: 3 or 5
    float scale = 1;
};

struct BilateralTables {
    std::array<std::vector<float>, 3> smoothing;  // of the guide, along depth, A-scans, B-scans; empty: none
    std::array<std::int64_t, 3> reach{};
    BilateralWeight weight{};
    float margin = 0;  // added to power in logarithms
};

using SpeckleTables = std::variant<NonLocalMeansTables, MedianTables, BilateralTables>;

}  // namespace echolux
