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
#include "compute/steps/layers.h"

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

}  // namespace echolux
