// Parameters of speckle filters, computed once from the settings and the volume so that all backends use the same, and
// the GPU filters. The CPU reference implementations are in engine/speckle.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compute/backend.h"
#include "compute/steps/speckle.h"

namespace echolux {

// Reaches in voxels on either side along depth, A-scans, B-scans: of the search, and of the compared cubes.
struct NonLocalMeansTables {
    std::array<std::int64_t, 3> search{};
    std::int64_t patch = 0;
    PatchWeight weight{};
    float margin = 0;  // added to power
};

// Median of a cube. The scale converts the median of speckle to its mean.
struct MedianTables {
    std::int64_t edge = 3;  // window size, 3 or 5 voxels
    float scale = 1;
};

// Bilateral filter with a smoothed guide image.
struct BilateralTables {
    // Weights for the guide image, along depth, A-scans, B-scans; empty for none
    std::array<std::vector<float>, 3> smoothing;
    std::array<std::int64_t, 3> reach{};
    BilateralWeight weight{};
    float margin = 0;  // added to power before logarithms
};

using SpeckleTables = std::variant<NonLocalMeansTables, MedianTables, BilateralTables>;

// A filter for volumes of a fixed size in GPU memory. Created by GpuBackend::speckle_filter.
class SpeckleFilterOnGpu {
  public:
    virtual ~SpeckleFilterOnGpu() = default;

    // Filters linear power, [b_scan][a_scan][depth], 0 or more. `out` must not overlap `power`. Blocks until complete.
    // Throws Error{device, out_of_memory}.
    virtual void operator()(const float* power, float* out) = 0;

    // Returns why the filter is slower than possible, with a remedy, in one line. Empty if it is not.
    virtual std::string why_slow() const = 0;
};

// Called with the number of completed B-scans. May throw to cancel.
using BScanCallback = std::function<void(std::int64_t)>;

// Filtered power and a hint on the speed.
struct FilteredOnGpu {
    std::vector<float> power;
    std::string why_slow;  // see SpeckleFilterOnGpu
};

// Filters host memory in batches of B-scans that fit into GPU memory, each with the surrounding B-scans that the filter
// needs. Throws Error{device, out_of_memory}, the latter if not even one B-scan fits.
FilteredOnGpu filtered_on_gpu(const std::vector<float>& power, const std::array<std::int64_t, 3>& size,
                              const SpeckleTables& tables, const BackendChoice& choice, const BScanCallback& done = {});

// Returns the reach of a filter in B-scans on either side.
std::int64_t slices_around(const SpeckleTables& tables);

}  // namespace echolux
