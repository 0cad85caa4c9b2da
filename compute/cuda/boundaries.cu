// The search for boundaries on a GPU: the volume and its sums along the depth stay there; a pass takes the rows of all
// boundaries and gives labels back. All boundaries are swept at once, since one alone would not fill the GPU.
#include "compute/cuda/boundaries.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compute/cuda/boundaries.cuh"
#include "compute/cuda/gpu_index.h"
#include "compute/cuda/memory.h"
#include "compute/error.h"

namespace echolux::cuda {
namespace {

template <class T>
DeviceBuffer buffer_of(std::int64_t elements) {
    return DeviceBuffer(elements * static_cast<std::int64_t>(sizeof(T)));
}

class SearchOnGpu : public BoundarySearch {
  public:
    SearchOnGpu(const std::vector<float>& intensity, const LayerTables& tables, int device)
        : device_(device), size_(tables.size), lines_(size_[1] * size_[2]), least_mean_(tables.least_mean),
          reach_(static_cast<int>(tables.mean_weights.size()) - 1), intensity_(uploaded(intensity)),
          has_signal_(uploaded(tables.has_signal)), weights_(uploaded(tables.mean_weights)),
          sums_(buffer_of<double>(lines_ * (size_[0] + 1))), is_complete_(buffer_of<std::uint8_t>(lines_)) {
        constexpr std::int64_t together = 32 * warps_that_sum;
        sum_up_lines<<<static_cast<unsigned>((lines_ + together - 1) / together), 32 * warps_that_sum, 0, stream_>>>(
            intensity_.as<float>(), static_cast<int>(size_[0]), lines_, sums_.as<double>(),
            is_complete_.as<std::uint8_t>());
        checked_launch("sum A-scans up");
        checked(cudaStreamSynchronize(stream_), "sum A-scans up");
    }

    ~SearchOnGpu() override {
        at_the_end_.emplace(device_, std::nothrow);
        cudaStreamSynchronize(stream_);
    }

    std::vector<SweptBoundary> swept(const BoundaryRows& rows, std::span<const SweepStep> steps,
                                     const BoundaryDone& done) override {
        const CurrentDevice current(device_);
        reserve(std::ssize(rows));
        set(rows, steps);
        const auto boundaries = static_cast<int>(rows.size());
        const PresentRows present{rows_.as<std::int32_t>(), boundaries, static_cast<int>(size_[0]), lines_};
        find_means(present);
        fill_boundary_costs<<<dim3(blocks_for(lines_ * boundary_lanes), static_cast<unsigned>(boundaries)),
                              threads_of_a_range, 0, stream_>>>(volume(), present, means_.as<float>(),
                                                                costs_.as<float>());
        checked_launch("fill costs");
        sweep(boundaries);
        std::vector<SweptBoundary> found;
        for (int k = 0; k < boundaries; ++k) {
            found.push_back(of_boundary(k));
            done();
        }
        return found;
    }

  private:
    LayerVolume volume() const {
        return {static_cast<int>(size_[0]),     static_cast<int>(size_[1]),     static_cast<int>(size_[2]),
                intensity_.as<float>(),         has_signal_.as<std::uint8_t>(), sums_.as<double>(),
                is_complete_.as<std::uint8_t>()};
    }

    void reserve(std::int64_t boundaries) {
        const auto room = [&](DeviceBuffer& buffer, std::int64_t elements, std::size_t each) {
            buffer.reserve(elements * lines_ * static_cast<std::int64_t>(each));
        };
        room(rows_, boundaries, sizeof(std::int32_t));
        smoothness_.reserve(boundaries * static_cast<std::int64_t>(sizeof(float)));
        for (DeviceBuffer* maps : {&means_, &counts_, &smoothed_}) room(*maps, boundaries + 1, sizeof(float));
        for (DeviceBuffer* labels : {&costs_, &totals_a_, &totals_b_})
            room(*labels, boundaries * boundary_lanes, sizeof(float));
        room(labels_, boundaries, sizeof(std::int32_t));
        room(quality_, boundaries, sizeof(float));
        room(is_ambiguous_, boundaries, sizeof(std::uint8_t));
    }

    void set(const BoundaryRows& rows, std::span<const SweepStep> steps) {
        const auto bytes = lines_ * static_cast<std::int64_t>(sizeof(std::int32_t));
        for (std::size_t k = 0; k < rows.size(); ++k)
            upload(rows[k].data(), bytes, rows_.data() + static_cast<std::int64_t>(k) * bytes);
        std::vector<float> smoothness;
        for (const SweepStep& step : steps) smoothness.push_back(step.smoothness);
        upload(smoothness.data(), static_cast<std::int64_t>(smoothness.size() * sizeof(float)), smoothness_.data());
    }

    // What the brightness of each layer is around each A-scan.
    void find_means(const PresentRows& present) {
        const dim3 maps(blocks_for(lines_), static_cast<unsigned>(present.boundaries + 1));
        sum_layers<<<maps, threads_of_a_range, 0, stream_>>>(volume(), present, means_.as<float>(),
                                                             counts_.as<float>());
        checked_launch("sum layers");
        for (DeviceBuffer* of : {&means_, &counts_}) {
            for (const bool along_b : {false, true}) {
                if (size_[along_b ? 2 : 1] < 2) continue;
                smooth_maps<<<maps, threads_of_a_range, 0, stream_>>>(of->as<float>(), static_cast<int>(size_[1]),
                                                                      static_cast<int>(size_[2]), along_b, reach_,
                                                                      weights_.as<float>(), smoothed_.as<float>());
                checked_launch("smooth layers");
                std::swap(*of, smoothed_);
            }
        }
        const std::int64_t elements = lines_ * (present.boundaries + 1);
        divide_by_counts<<<blocks_for(elements), threads_of_a_range, 0, stream_>>>(elements, counts_.as<float>(),
                                                                                   least_mean_, means_.as<float>());
        checked_launch("average layers");
    }

    void sweep(int boundaries) {
        const bool has_a = size_[1] > 1, has_b = size_[2] > 1;
        const Ways ways{has_a || !has_b ? static_cast<int>(size_[2]) : 0, has_b ? static_cast<int>(size_[1]) : 0,
                        static_cast<int>(size_[1]), static_cast<int>(size_[2])};
        const int count = ways.along_a + ways.along_b;
        const dim3 blocks(static_cast<unsigned>((count + warps_of_ways - 1) / warps_of_ways),
                          static_cast<unsigned>(boundaries));
        sweep_ways<<<blocks, 32 * warps_of_ways, 0, stream_>>>(ways, costs_.as<float>(), rows_.as<std::int32_t>(),
                                                               smoothness_.as<float>(), totals_a_.as<float>(),
                                                               totals_b_.as<float>());
        checked_launch("sweep costs");
        const std::int64_t elements = lines_ * boundaries;
        const SweptLines lines{labels_.as<std::int32_t>(), quality_.as<float>(), is_ambiguous_.as<std::uint8_t>()};
        choose_labels<<<blocks_for(elements * 32), threads_of_a_range, 0, stream_>>>(
            ways, elements, costs_.as<float>(), totals_a_.as<float>(), totals_b_.as<float>(), lines);
        checked_launch("choose labels");
        checked(cudaStreamSynchronize(stream_), "find boundaries");
    }

    SweptBoundary of_boundary(std::int64_t k) const {
        const auto lines = static_cast<std::size_t>(lines_);
        SweptBoundary found{std::vector<std::int32_t>(lines), std::vector<float>(lines),
                            std::vector<std::uint8_t>(lines)};
        const auto fetch = [&](auto& to, const DeviceBuffer& from) {
            const std::size_t bytes = lines * sizeof(to[0]);
            checked(
                cudaMemcpy(to.data(), from.data() + static_cast<std::size_t>(k) * bytes, bytes, cudaMemcpyDeviceToHost),
                "copy boundaries");
        };
        fetch(found.labels, labels_);
        fetch(found.quality, quality_);
        fetch(found.is_ambiguous, is_ambiguous_);
        return found;
    }

    std::optional<CurrentDevice> at_the_end_;  // the first member: all others are given back on their device
    int device_;
    std::array<std::int64_t, 3> size_;
    std::int64_t lines_;
    float least_mean_;
    int reach_;
    Stream stream_;
    DeviceBuffer intensity_, has_signal_, weights_;
    DeviceBuffer sums_, is_complete_;               // of A-scans
    DeviceBuffer rows_, smoothness_;                // of boundaries
    DeviceBuffer means_, counts_, smoothed_;        // of layers
    DeviceBuffer costs_, totals_a_, totals_b_;      // of labels
    DeviceBuffer labels_, quality_, is_ambiguous_;  // what is found
};

}  // namespace

std::unique_ptr<BoundarySearch> boundary_search(const std::vector<float>& intensity, const LayerTables& tables,
                                                const BackendChoice& choice) {
    for (const std::int64_t axis : tables.size) {
        if (axis > std::numeric_limits<int>::max() / boundary_lanes)
            throw Error(ErrorCode::device, "the volume is too long to find layers on a GPU", "cuda");
    }
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    return std::make_unique<SearchOnGpu>(intensity, tables, device);
}

}  // namespace echolux::cuda
