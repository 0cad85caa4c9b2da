// Search for the boundaries of layers in a volume (docs/layers.md), on the CPU or a GPU. The steps and their order are
// those of compute/boundary_search_on.h for both, and so are the bits of the results.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compute/steps/layers.h"

namespace echolux {

enum class Reason : std::uint8_t;  // compute/reason.h

// Intensity levels that count as signal, and the mean of the noise.
struct SignalLevels {
    float bright = 0;       // above noise
    double min_bright = 0;  // min bright rows per A-scan
    float min_mean = 0;     // min mean of a layer
    float margin = 0;       // added to intensities in contrasts
    double floor = 0;       // mean intensity of the noise
};

// Input of a search, from profiles to rows.
struct SurfaceTables {
    std::array<std::int64_t, 3> size{};  // rows, A-scans, B-scans
    BlockAxis along_a{}, along_b{};      // blocks of A-scans whose mean profiles are cut
    std::vector<ProfileBoundary> cut;    // boundaries to cut: the requested ones and others below
    std::vector<BoundaryRequest> wanted;
    double floor_share = 0;          // share of bins darker than the noise
    double most_floor = 1e30;        // upper limit of the mean noise intensity, if known
    std::int64_t outlier_reach = 0;  // blocks
    double outlier_bins = 0;
    // Weights of the centre, then each distance.
    std::vector<float> block_weights, mean_weights, contrast_weights, jitter_weights;
};

// Result of cutting the mean profiles of blocks.
struct BlockCutResult {
    double floor = 0;                                // mean intensity of the noise
    std::vector<std::vector<float>> bins;            // [boundary][block]
    std::vector<std::uint8_t> is_known, has_tissue;  // [block]
};

// Surfaces, [boundary][A-scan]. See Surface.
struct SurfaceRows {
    std::vector<std::vector<float>> rows, quality;
    std::vector<std::vector<Reason>> reasons;
    std::int64_t moved = 0;  // positions moved to restore the order of boundaries
};

// Result of one sweep, [boundary][A-scan].
struct SweptBoundaries {
    std::vector<std::int32_t> labels;  // label with the smallest total cost
    std::vector<float> quality;        // cost difference in nats to the best label at least three rows away
    // positions along A-scans alone and along B-scans alone differ by more than 2 rows
    std::vector<std::uint8_t> is_ambiguous;
};

// Called with the number of boundaries that were swept, or on a GPU submitted, 0 in optional sweeps, whose number is
// not known before. May throw to cancel.
using BoundaryCallback = std::function<void(std::int64_t)>;

// A search in one volume. Not thread-safe. Throws Error{device, out_of_memory}.
class BoundarySearch {
  public:
    virtual ~BoundarySearch() = default;

    // Cuts the mean profiles of blocks.
    virtual BlockCutResult cut() = 0;

    // Searches the surfaces. `bins` are those of the requested boundaries, known in all blocks.
    virtual SurfaceRows found(const std::vector<std::vector<float>>& bins, const SignalLevels& levels,
                              const BoundaryCallback& done) = 0;

    // Sweeps once around given rows, [boundary][A-scan], as found() does repeatedly. `steps` has one entry per
    // boundary.
    virtual SweptBoundaries swept(const std::vector<std::int32_t>& rows, const std::vector<std::uint8_t>& has_signal,
                                  std::span<const SweepStep> steps, float min_mean) = 0;
};

}  // namespace echolux
