// The costly part of finding surfaces between layers, as a processor offers it: what it costs boundaries to lie around
// their present places, and where they lie once sweeps have made them smooth. The CPU's, the reference, is in
// engine/layers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compute/backend.h"
#include "compute/steps/coarse_layers.h"
#include "compute/steps/layers.h"
#include "compute/steps/surfaces.h"

namespace echolux {

struct SweptBoundary {
    std::vector<std::int32_t> labels;        // of each A-scan: that of the least sum of costs
    std::vector<float> quality;              // by how much the next least sum, three rows off or more, is greater: nats
    std::vector<std::uint8_t> is_ambiguous;  // along A-scans and along B-scans alone, places lie more than 2 rows apart
};

// [boundary][A-scan]: the row that begins below it.
using BoundaryRows = std::vector<std::vector<std::int32_t>>;

// Told after each boundary; may throw, which ends the work.
using BoundaryDone = std::function<void()>;

class BoundarySearch {
  public:
    virtual ~BoundarySearch() = default;

    // Of boundaries around their present places, from above; `steps`: one for each. Throws Error{device}.
    virtual std::vector<SweptBoundary> swept(const BoundaryRows& rows, std::span<const SweepStep> steps,
                                             const BoundaryDone& done) = 0;
};

// From which intensities on something is there, with the mean of noise.
struct SignalLevels {
    float bright = 0;         // more than noise
    double least_bright = 0;  // rows of an A-scan
    float least_mean = 0;     // of a layer
    float margin = 0;         // that contrasts are told with
    double floor = 0;         // mean intensity of noise
};

// What a search works on.
struct LayerTables {
    std::array<std::int64_t, 3> size{};    // rows, A-scans, B-scans
    std::vector<std::uint8_t> has_signal;  // of each A-scan
    std::vector<float> mean_weights;       // how neighbours count in the mean of a layer: the middle, each distance
    float least_mean = 0;                  // of a layer
};

// `intensity`: [b_scan][a_scan][depth], linear, which is copied. Throws Error{device, out_of_memory}; where there is no
// GPU that is Error{device}.
std::unique_ptr<BoundarySearch> boundary_search_on_gpu(const std::vector<float>& intensity, const LayerTables& tables,
                                                       const BackendChoice& choice);

// What the whole search for surfaces works by, from profiles to rows.
struct SurfaceTables {
    std::array<std::int64_t, 3> size{};  // rows, A-scans, B-scans
    BlockAxis along_a{}, along_b{};      // blocks of A-scans whose mean profiles are cut
    std::vector<ProfileBoundary> cut;    // as they are cut: those that are wanted, and others below
    std::vector<WantedRows> wanted;
    double floor_share = 0;          // of the bins are darker than noise
    double most_floor = 1e30;        // mean intensity of noise, where it is known
    std::int64_t outlier_reach = 0;  // blocks
    double outlier_bins = 0;
    std::vector<float> block_weights, mean_weights, contrast_weights, jitter_weights;  // the middle, each distance
};

// What the mean profiles of blocks say.
struct BlocksCut {
    double floor = 0;                                // mean intensity of noise
    std::vector<std::vector<float>> bins;            // [boundary][block]
    std::vector<std::uint8_t> is_known, has_tissue;  // of each block
};

// [boundary][A-scan]: see Surface.
struct RowsFound {
    std::vector<float> rows, quality;
    std::vector<Reason> reasons;
    std::int64_t moved = 0;
};

// The whole search, the volume being in the GPU's memory.
class SurfaceSearchOnGpu {
  public:
    virtual ~SurfaceSearchOnGpu() = default;

    virtual BlocksCut cut() = 0;

    // `bins`: of the boundaries that are wanted, known in all blocks; `levels`: see SignalLevels.
    virtual RowsFound found(const std::vector<std::vector<float>>& bins, const SignalLevels& levels,
                            const BoundaryDone& done) = 0;
};

// `intensity`: of the host, or of that GPU's memory. Throws Error{device, out_of_memory}; where there is no GPU that is
// Error{device}.
std::unique_ptr<SurfaceSearchOnGpu> surface_search_on_gpu(const float* intensity, const SurfaceTables& tables,
                                                          const BackendChoice& choice);

}  // namespace echolux
