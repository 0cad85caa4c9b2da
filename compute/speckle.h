// What speckle filters work by, made once from the settings and the volume, so that every processor has the same; and
// the filters as a GPU offers them. The CPU's, the reference, are in engine/speckle.
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

    // Why it takes longer than it could, with the remedy: one line. Empty: it does not.
    virtual std::string why_slow() const = 0;
};

// `size`: rows, A-scans, B-scans. Throws Error{device, out_of_memory}; where there is no GPU that is Error{device}.
std::unique_ptr<SpeckleFilterOnGpu> speckle_filter_on_gpu(const std::array<std::int64_t, 3>& size,
                                                          const SpeckleTables& tables, const BackendChoice& choice);

// Told how many B-scans are done; may throw, which ends the work.
using SlicesDone = std::function<void(std::int64_t)>;

struct FilteredOnGpu {
    std::vector<float> power;
    std::string why_slow;  // see SpeckleFilterOnGpu
};

// The same for a volume of the host: some B-scans at a time, with those around them that the filter reaches, as many as
// the GPU has memory for. Throws Error{device, out_of_memory}, the latter where not even a few find room.
FilteredOnGpu filtered_on_gpu(const std::vector<float>& power, const std::array<std::int64_t, 3>& size,
                              const SpeckleTables& tables, const BackendChoice& choice, const SlicesDone& done = {});

// B-scans to either side that a filter reaches.
std::int64_t slices_around(const SpeckleTables& tables);

}  // namespace echolux
