// The expensive part of the search for surfaces between layers, as a GPU implements it: the cost of each boundary
// around its current position, and its position after sweeps have smoothed it. The CPU reference implementation is in
// engine/layers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compute/backend.h"
#include "compute/steps/layers.h"

namespace echolux {

// Result of a sweep for one boundary, [A-scan] each.
struct SweptBoundary {
    std::vector<std::int32_t> labels;  // [A-scan], label with the smallest total cost
    std::vector<float> quality;        // cost difference in nats to the best label at least three rows away
    // positions along A-scans alone and along B-scans alone differ by more than 2 rows
    std::vector<std::uint8_t> is_ambiguous;
};

// [boundary][A-scan]: the row directly below the boundary.
using BoundaryRows = std::vector<std::vector<std::int32_t>>;

// Called after each boundary. May throw to cancel.
using BoundaryDone = std::function<void()>;

// Sweeps boundaries of a volume in GPU memory.
class BoundarySearch {
  public:
    virtual ~BoundarySearch() = default;

    // Sweeps boundaries around their current rows, from the top. `steps` has one entry per boundary. Throws
    // Error{device}.
    virtual std::vector<SweptBoundary> swept(const BoundaryRows& rows, std::span<const SweepStep> steps,
                                             const BoundaryDone& done) = 0;
};

// Intensity levels that count as signal, and the mean of the noise.
struct SignalLevels {
    float bright = 0;         // above noise
    double least_bright = 0;  // min bright rows per A-scan
    float least_mean = 0;     // min mean of a layer
    float margin = 0;         // added to intensities in contrasts
    double floor = 0;         // mean intensity of the noise
};

// Input of a boundary search.
struct LayerTables {
    std::array<std::int64_t, 3> size{};    // rows, A-scans, B-scans
    std::vector<std::uint8_t> has_signal;  // [A-scan]
    // weights of neighbours in the mean of a layer: the centre, then each distance
    std::vector<float> mean_weights;
    float least_mean = 0;  // min mean of a layer
};

// Copies `intensity`, [b_scan][a_scan][depth], linear, to a GPU and returns the search. Throws Error{device,
// out_of_memory}, and Error{device} without a GPU.
std::unique_ptr<BoundarySearch> boundary_search_on_gpu(const std::vector<float>& intensity, const LayerTables& tables,
                                                       const BackendChoice& choice);

// Input of the complete surface search, from profiles to rows.
struct SurfaceTables {
    std::array<std::int64_t, 3> size{};  // rows, A-scans, B-scans
    BlockAxis along_a{}, along_b{};      // blocks of A-scans whose mean profiles are cut
    std::vector<ProfileBoundary> cut;    // boundaries to cut: the requested ones and others below
    std::vector<WantedRows> wanted;
    double floor_share = 0;          // share of bins darker than the noise
    double most_floor = 1e30;        // upper limit of the mean noise intensity, if known
    std::int64_t outlier_reach = 0;  // blocks
    double outlier_bins = 0;
    // Weights of the centre, then each distance.
    std::vector<float> block_weights, mean_weights, contrast_weights, jitter_weights;
};

// Result of cutting the mean profiles of blocks.
struct BlocksCut {
    double floor = 0;                                // mean intensity of the noise
    std::vector<std::vector<float>> bins;            // [boundary][block]
    std::vector<std::uint8_t> is_known, has_tissue;  // [block]
};

// Surfaces, [boundary][A-scan]. See Surface.
struct RowsFound {
    std::vector<float> rows, quality;
    std::vector<Reason> reasons;
    std::int64_t moved = 0;
};

// The complete surface search on a volume in GPU memory.
class SurfaceSearchOnGpu {
  public:
    virtual ~SurfaceSearchOnGpu() = default;

    // Cuts the mean profiles of blocks.
    virtual BlocksCut cut() = 0;

    // Searches the surfaces. `bins` are those of the requested boundaries, known in all blocks.
    virtual RowsFound found(const std::vector<std::vector<float>>& bins, const SignalLevels& levels,
                            const BoundaryDone& done) = 0;
};

// Starts a search on `intensity` in host memory or in the memory of that GPU. Throws Error{device, out_of_memory}, and
// Error{device} without a GPU.
std::unique_ptr<SurfaceSearchOnGpu> surface_search_on_gpu(const float* intensity, const SurfaceTables& tables,
                                                          const BackendChoice& choice);

}  // namespace echolux
