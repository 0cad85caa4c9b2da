// What speckle filters work by, made once from the settings and the volume, so that every processor has the same; and
// the filters as a GPU offers them. The CPU's, the reference, are in engine/speckle.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "compute/backend.h"
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

// For volumes of one size that lie in a GPU's memory.
class SpeckleFilterOnGpu {
  public:
    virtual ~SpeckleFilterOnGpu() = default;

    // [b_scan][a_scan][depth], linear power, 0 or more; `out` lies elsewhere. It is there when this returns. Throws
    // Error{device, out_of_memory}.
    virtual void operator()(const float* power, float* out) = 0;
};

// `size`: rows, A-scans, B-scans. Throws Error{device, out_of_memory}; where there is no GPU that is Error{device}.
std::unique_ptr<SpeckleFilterOnGpu> speckle_filter_on_gpu(const std::array<std::int64_t, 3>& size,
                                                          const SpeckleTables& tables, const BackendChoice& choice);

// The same for a volume of the host.
std::vector<float> filtered_on_gpu(const std::vector<float>& power, const std::array<std::int64_t, 3>& size,
                                   const SpeckleTables& tables, const BackendChoice& choice);

}  // namespace echolux
