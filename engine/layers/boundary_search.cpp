#include "engine/layers/boundary_search.h"

#include "engine/layers/boundary_costs.h"
#include "engine/layers/sweeps.h"

namespace echolux {
namespace {

// Computes the costs of all boundaries, then sweeps each of them.
class SearchOnCpu : public BoundarySearch {
  public:
    SearchOnCpu(const std::vector<float>& intensity, const Size3& size, const CoarseLayers& coarse)
        : intensity_(intensity), size_(size), coarse_(coarse) {}

    std::vector<SweptBoundary> swept(const BoundaryRows& rows, std::span<const SweepStep> steps,
                                     const BoundaryDone& done) override {
        const BoundaryCosts costs = boundary_costs(intensity_, size_, rows, coarse_.has_signal, coarse_.floor);
        std::vector<SweptBoundary> found;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            found.push_back(echolux::swept(costs[k], rows[k], {size_[1], size_[2]}, steps[k]));
            done();
        }
        return found;
    }

  private:
    const std::vector<float>& intensity_;
    const Size3 size_;
    const CoarseLayers& coarse_;
};

}  // namespace

std::unique_ptr<BoundarySearch> boundary_search_on_cpu(const std::vector<float>& intensity, const Size3& size,
                                                       const CoarseLayers& coarse) {
    return std::make_unique<SearchOnCpu>(intensity, size, coarse);
}

}  // namespace echolux
