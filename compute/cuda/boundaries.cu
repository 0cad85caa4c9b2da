// GPU boundary search. The volume and its prefix sums in depth stay in GPU memory. Each pass receives the rows of all
// boundaries and returns labels.
#include "compute/cuda/boundaries.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compute/cuda/boundaries.cuh"
#include "compute/cuda/gpu_index.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/surface_search.cuh"
#include "compute/error.h"

namespace echolux::cuda {
namespace {

void require_length(const std::array<std::int64_t, 3>& size) {
    for (const std::int64_t axis : size) {
        if (axis > std::numeric_limits<int>::max() / boundary_lanes)
            throw Error(ErrorCode::device, "the volume is too long to find layers on a GPU", "cuda");
    }
}

// Holds a copy of the volume and the buffers of the sweeps.
class SearchOnGpu : public BoundarySearch {
  public:
    SearchOnGpu(const std::vector<float>& intensity, const LayerTables& tables, int device)
        : device_(device), lines_(tables.size[1] * tables.size[2]), least_mean_(tables.least_mean),
          intensity_(uploaded(intensity)), has_signal_(uploaded(tables.has_signal)),
          sweeps_(tables.size, tables.mean_weights) {
        sweeps_.sum_up(intensity_.as<float>());
        checked(cudaStreamSynchronize(sweeps_.stream()), "sum A-scans up");
    }

    ~SearchOnGpu() override {
        at_the_end_.emplace(device_, std::nothrow);
        cudaStreamSynchronize(sweeps_.stream());
    }

    std::vector<SweptBoundary> swept(const BoundaryRows& rows, std::span<const SweepStep> steps,
                                     const BoundaryDone& done) override {
        const CurrentDevice current(device_);
        sweeps_.reserve(steps);
        const auto bytes = lines_ * static_cast<std::int64_t>(sizeof(std::int32_t));
        for (std::size_t k = 0; k < rows.size(); ++k)
            upload(rows[k].data(), bytes, sweeps_.rows().data() + static_cast<std::int64_t>(k) * bytes);
        sweeps_.run(intensity_.as<float>(), has_signal_.as<std::uint8_t>(), least_mean_);
        std::vector<SweptBoundary> found;
        for (std::int64_t k = 0; k < std::ssize(rows); ++k) {
            const auto lines = static_cast<std::size_t>(lines_);
            SweptBoundary one{std::vector<std::int32_t>(lines), std::vector<float>(lines),
                              std::vector<std::uint8_t>(lines)};
            fetch(one.labels, sweeps_.labels(), k * lines_, sweeps_.stream());
            fetch(one.quality, sweeps_.quality(), k * lines_, sweeps_.stream());
            fetch(one.is_ambiguous, sweeps_.is_ambiguous(), k * lines_, sweeps_.stream());
            found.push_back(std::move(one));
            done();
        }
        return found;
    }

  private:
    // Must be first: makes the device current while the other members are destroyed
    std::optional<CurrentDevice> at_the_end_;
    int device_;
    std::int64_t lines_;
    float least_mean_;
    DeviceBuffer intensity_, has_signal_;
    Sweeps sweeps_;
};

}  // namespace

std::unique_ptr<BoundarySearch> boundary_search(const std::vector<float>& intensity, const LayerTables& tables,
                                                const BackendChoice& choice) {
    require_length(tables.size);
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    return std::make_unique<SearchOnGpu>(intensity, tables, device);
}

std::unique_ptr<SurfaceSearchOnGpu> surface_search(const float* intensity, const SurfaceTables& tables,
                                                   const BackendChoice& choice) {
    require_length(tables.size);
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    const std::int64_t boundaries = std::ssize(tables.wanted), lines = tables.size[1] * tables.size[2];
    const std::int64_t of_line =
        12 * tables.size[0] + boundaries * (3 * boundary_lanes + 12) * 4;  // bytes of rows, labels, maps
    require_free(lines * of_line, "this search for surfaces",
                 "search a part of the volume, close what else uses the GPU, or choose `backend` cpu");
    return std::make_unique<WholeSearch>(intensity, tables, device);
}

}  // namespace echolux::cuda
