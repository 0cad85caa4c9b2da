// Mean of registered volumes in GPU memory, see ShiftedMeanOnGpu.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "compute/cuda/registration_mean.cuh"
#include "compute/cuda/registration_memory.cuh"
#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// B-scans processed together: enough for each thread of a large GPU to have a line.
inline constexpr std::int64_t mean_batch_bytes = std::int64_t{256} << 20;
inline constexpr std::int64_t most_runs = 65535;  // per launch, one per B-scan

// Accumulates weighted sums and weights per voxel.
class MeanOnGpu : OfDevice, public ShiftedMeanOnGpu {
  public:
    MeanOnGpu(int device, const std::array<std::int64_t, 3>& size)
        : OfDevice(device), all_{static_cast<int>(size[0]), static_cast<int>(size[1]), size[2]},
          at_once_(std::min(rows_at_once(all_.of_row(), all_.rows, mean_batch_bytes), most_runs)),
          sums_(all_.samples() * float_bytes), weights_(all_.samples() * float_bytes),
          batch_(at_once_ * all_.of_row() * float_bytes) {
        clear();
    }

    ~MeanOnGpu() override { leave(stream_); }

    void clear() override {
        const CurrentDevice current(device_);
        for (const DeviceBuffer* one : {&sums_, &weights_}) {
            checked(cudaMemsetAsync(one->data(), 0, static_cast<std::size_t>(one->bytes()), stream_), "clear sums");
        }
        checked(cudaStreamSynchronize(stream_), "clear sums");
    }

    void add(const float* power, std::span<const LandingRow> rows) override {
        const CurrentDevice current(device_);
        if (rows.empty()) return;
        const std::vector<LandingRun> runs = runs_of(rows);
        keep(rows, landing_);
        keep(std::span<const LandingRun>(runs), runs_);
        const unsigned* has_lost = lost_.enqueue(power, all_.samples(), stream_);
        for (std::size_t first = 0; first < runs.size();) {
            std::size_t end = first + 1;
            while (end < runs.size() && runs[end].end - runs[first].begin <= at_once_) ++end;
            add_runs(power, has_lost, runs, first, end);
            first = end;
        }
        checked(cudaStreamSynchronize(stream_), "add B-scans");
    }

    void write(float* mean) override {
        const CurrentDevice current(device_);
        const bool is_here = is_on_device(mean);
        const std::int64_t at_once = is_here ? all_.rows : at_once_;
        for (std::int64_t first = 0; first < all_.rows; first += at_once) {
            const std::int64_t offset = first * all_.of_row(),
                               count = std::min(at_once, all_.rows - first) * all_.of_row();
            float* to = is_here ? mean + offset : batch_.as<float>();
            divide_by_weights<<<blocks_for(count), threads_of_a_range, 0, stream_>>>(count, sums_.as<float>() + offset,
                                                                                     weights_.as<float>() + offset, to);
            checked_launch("divide by weights");
            if (is_here) continue;
            checked(cudaMemcpyAsync(mean + offset, to, static_cast<std::size_t>(count * float_bytes),
                                    cudaMemcpyDeviceToHost, stream_),
                    "copy a mean");
        }
        checked(cudaStreamSynchronize(stream_), "write a mean");
    }

  private:
    // Groups B-scans with the same target. If they exceed a batch, they form several runs.
    std::vector<LandingRun> runs_of(std::span<const LandingRow> rows) const {
        std::vector<LandingRun> runs;
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(rows.size()); ++i) {
            const bool is_new =
                i == 0 || rows[static_cast<std::size_t>(i)].to != rows[static_cast<std::size_t>(i - 1)].to;
            if (is_new || runs.back().end - runs.back().begin >= at_once_) runs.push_back({i, i});
            runs.back().end = i + 1;
        }
        return runs;
    }

    template <class Value>
    void keep(std::span<const Value> values, DeviceBuffer& on_device) {
        const auto bytes = static_cast<std::int64_t>(values.size_bytes());
        on_device.reserve(bytes);
        checked(cudaMemcpyAsync(on_device.data(), values.data(), static_cast<std::size_t>(bytes),
                                cudaMemcpyHostToDevice, stream_),
                "copy a table to the GPU");
    }

    static bool is_on_device(const float* memory) {
        cudaPointerAttributes facts{};
        checked(cudaPointerGetAttributes(&facts, memory), "ask whose memory this is");
        return facts.type == cudaMemoryTypeDevice;
    }

    // Adds runs [first, end) as one batch. Runs with the same target are never in the same batch.
    void add_runs(const float* power, const unsigned* has_lost, const std::vector<LandingRun>& runs, std::size_t first,
                  std::size_t end) {
        const std::int32_t begin = runs[first].begin;
        const FeaturePlanes planes{all_.depth, all_.a_scans, runs[end - 1].end - begin};
        auto* values = batch_.as<float>();
        const OverPlanes over(planes);
        take_landing<<<over.blocks, over.threads, 0, stream_>>>(planes, landing_.as<LandingRow>() + begin, power,
                                                                values);
        checked_launch("take B-scans");
        find_coefficients(planes, values);
        const dim3 blocks(static_cast<unsigned>(planes.a_scans), over.blocks.y, static_cast<unsigned>(end - first));
        add_landing<<<blocks, over.threads, 0, stream_>>>(planes, runs_.as<LandingRun>() + first,
                                                          landing_.as<LandingRow>(), values, power, has_lost,
                                                          sums_.as<float>(), weights_.as<float>());
        checked_launch("add B-scans");
    }

    void find_coefficients(const FeaturePlanes& planes, float* values) {
        constexpr std::int64_t together = 32 * warps_of_lines;
        const std::int64_t lines = planes.rows * planes.a_scans;
        if (planes.depth > 1) {
            filter_lines<<<static_cast<unsigned>((lines + together - 1) / together), together, 0, stream_>>>(
                values, planes.depth, lines);
            checked_launch("find coefficients along depth");
        }
        if (planes.a_scans > 1) {
            filter_a_scans<<<blocks_for(planes.rows * planes.depth), threads_of_a_range, 0, stream_>>>(planes, values);
            checked_launch("find coefficients along A-scans");
        }
    }

    FeaturePlanes all_;
    std::int64_t at_once_;
    DeviceBuffer sums_, weights_, batch_, landing_, runs_;
    LostSurvey lost_;
    Stream stream_{Urgency::urgent};
};

}  // namespace echolux::cuda
