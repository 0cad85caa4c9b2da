// Costs and sweeps of boundaries on a GPU. All boundaries are processed at once, because one alone would not occupy it.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "compute/cuda/boundaries.cuh"
#include "compute/cuda/memory.h"
#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

template <class T>
DeviceBuffer buffer_of(std::int64_t elements) {
    return DeviceBuffer(elements * static_cast<std::int64_t>(sizeof(T)));
}

// Costs and sweeps of boundaries in one volume, around their current rows.
class Sweeps {
  public:
    explicit Sweeps(const std::array<std::int64_t, 3>& size, const std::vector<float>& mean_weights)
        : size_(size), lines_(size[1] * size[2]), reach_(static_cast<int>(mean_weights.size()) - 1),
          weights_(uploaded(mean_weights)), sums_(buffer_of<double>(lines_ * (size_[0] + 1))),
          is_complete_(buffer_of<std::uint8_t>(lines_)) {}

    void sum_up(const float* intensity) {
        constexpr std::int64_t together = 32 * warps_that_sum;
        sum_up_lines<<<static_cast<unsigned>((lines_ + together - 1) / together), 32 * warps_that_sum, 0, stream_>>>(
            intensity, static_cast<int>(size_[0]), lines_, sums_.as<double>(), is_complete_.as<std::uint8_t>());
        checked_launch("sum A-scans up");
    }

    void reserve(std::span<const SweepStep> steps) {
        const std::int64_t boundaries = std::ssize(steps);
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
        std::vector<float> smoothness;
        for (const SweepStep& step : steps) smoothness.push_back(step.smoothness);
        upload(smoothness.data(), static_cast<std::int64_t>(smoothness.size() * sizeof(float)), smoothness_.data());
        boundaries_ = static_cast<int>(boundaries);
    }

    // Sweeps around the current rows.
    void run(const float* intensity, const std::uint8_t* has_signal, float least_mean) {
        const LayerVolume of = volume(intensity, has_signal);
        find_means(of, least_mean);
        fill_boundary_costs<<<dim3(blocks_for(lines_ * boundary_lanes), static_cast<unsigned>(boundaries_)),
                              threads_of_a_range, 0, stream_>>>(of, present(), means_.as<float>(), costs_.as<float>());
        checked_launch("fill costs");
        sweep();
    }

    LayerVolume volume(const float* intensity, const std::uint8_t* has_signal) const {
        return {static_cast<int>(size_[0]),
                static_cast<int>(size_[1]),
                static_cast<int>(size_[2]),
                intensity,
                has_signal,
                sums_.as<double>(),
                is_complete_.as<std::uint8_t>()};
    }
    PresentRows present() const { return {rows_.as<std::int32_t>(), boundaries_, static_cast<int>(size_[0]), lines_}; }

    // Replaces maps by their Gaussian means.
    void smooth(DeviceBuffer& maps, std::int64_t count, const DeviceBuffer& weights) {
        smoothed_.reserve(maps.bytes());
        const dim3 blocks(blocks_for(lines_), static_cast<unsigned>(count));
        const int reach = static_cast<int>(weights.bytes() / static_cast<std::int64_t>(sizeof(float))) - 1;
        for (const bool along_b : {false, true}) {
            if (size_[along_b ? 2 : 1] < 2) continue;
            smooth_maps<<<blocks, threads_of_a_range, 0, stream_>>>(maps.as<float>(), static_cast<int>(size_[1]),
                                                                    static_cast<int>(size_[2]), along_b, reach,
                                                                    weights.as<float>(), smoothed_.as<float>());
            checked_launch("smooth maps");
            std::swap(maps, smoothed_);
        }
    }

    // Results: [boundary][line].
    const DeviceBuffer& labels() const { return labels_; }
    const DeviceBuffer& quality() const { return quality_; }
    const DeviceBuffer& is_ambiguous() const { return is_ambiguous_; }
    const DeviceBuffer& rows() const { return rows_; }
    cudaStream_t stream() const { return stream_; }

  private:
    // Computes the mean brightness of each layer around each A-scan.
    void find_means(const LayerVolume& of, float least_mean) {
        const dim3 maps(blocks_for(lines_), static_cast<unsigned>(boundaries_ + 1));
        sum_layers<<<maps, threads_of_a_range, 0, stream_>>>(of, present(), means_.as<float>(), counts_.as<float>());
        checked_launch("sum layers");
        for (DeviceBuffer* maps_of : {&means_, &counts_}) smooth(*maps_of, boundaries_ + 1, weights_);
        const std::int64_t elements = lines_ * (boundaries_ + 1);
        divide_by_counts<<<blocks_for(elements), threads_of_a_range, 0, stream_>>>(elements, counts_.as<float>(),
                                                                                   least_mean, means_.as<float>());
        checked_launch("average layers");
    }

    void sweep() {
        const bool has_a = size_[1] > 1, has_b = size_[2] > 1;
        const Ways ways{has_a || !has_b ? static_cast<int>(size_[2]) : 0, has_b ? static_cast<int>(size_[1]) : 0,
                        static_cast<int>(size_[1]), static_cast<int>(size_[2])};
        const int count = ways.along_a + ways.along_b;
        const dim3 blocks(static_cast<unsigned>((count + warps_of_ways - 1) / warps_of_ways),
                          static_cast<unsigned>(boundaries_));
        sweep_ways<<<blocks, 32 * warps_of_ways, 0, stream_>>>(ways, costs_.as<float>(), rows_.as<std::int32_t>(),
                                                               smoothness_.as<float>(), totals_a_.as<float>(),
                                                               totals_b_.as<float>());
        checked_launch("sweep costs");
        const std::int64_t elements = lines_ * boundaries_;
        const SweptLines lines{labels_.as<std::int32_t>(), quality_.as<float>(), is_ambiguous_.as<std::uint8_t>()};
        choose_labels<<<blocks_for(elements * 32), threads_of_a_range, 0, stream_>>>(
            ways, elements, costs_.as<float>(), totals_a_.as<float>(), totals_b_.as<float>(), lines);
        checked_launch("choose labels");
    }

    std::array<std::int64_t, 3> size_;
    std::int64_t lines_;
    int reach_, boundaries_ = 0;
    Stream stream_;
    DeviceBuffer weights_;
    DeviceBuffer sums_, is_complete_;               // tables of A-scans
    DeviceBuffer rows_, smoothness_;                // settings of boundaries
    DeviceBuffer means_, counts_, smoothed_;        // maps of layers
    DeviceBuffer costs_, totals_a_, totals_b_;      // costs of labels
    DeviceBuffer labels_, quality_, is_ambiguous_;  // results
};

// Copies to the host, as many elements as `to` holds.
template <class T>
void fetch(std::vector<T>& to, const DeviceBuffer& from, std::int64_t first, cudaStream_t stream) {
    checked(cudaMemcpyAsync(to.data(), from.as<T>() + first, to.size() * sizeof(T), cudaMemcpyDeviceToHost, stream),
            "copy boundaries");
    checked(cudaStreamSynchronize(stream), "find boundaries");
}

}  // namespace echolux::cuda
