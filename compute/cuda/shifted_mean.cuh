// The mean of registered volumes in a GPU's memory: see ShiftedMeanOnGpu.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "compute/cuda/registration_mean.cuh"
#include "compute/cuda/registration_memory.cuh"
#include "compute/registration.h"

namespace echolux::cuda {

class MeanOnGpu : OfDevice, public ShiftedMeanOnGpu {
  public:
    MeanOnGpu(int device, const std::array<std::int64_t, 3>& size)
        : OfDevice(device), all_{static_cast<int>(size[0]), static_cast<int>(size[1]), size[2]},
          at_once_(rows_at_once(all_.of_row(), all_.rows)), sums_(all_.samples() * float_bytes),
          weights_(all_.samples() * float_bytes), batch_(at_once_ * all_.of_row() * float_bytes) {
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
        const bool has_lost = lost_(power, all_.samples(), stream_);
        while (!rows.empty()) {
            const auto some = rows.first(std::min(rows.size(), static_cast<std::size_t>(at_once_)));
            add_batch(power, has_lost, some);
            rows = rows.subspan(some.size());
        }
    }

    void write(float* mean) override {
        const CurrentDevice current(device_);
        for (std::int64_t first = 0; first < all_.rows; first += at_once_) {
            const std::int64_t offset = first * all_.of_row(),
                               count = std::min(at_once_, all_.rows - first) * all_.of_row();
            divide_by_weights<<<blocks_for(count), threads_of_a_range, 0, stream_>>>(
                count, sums_.as<float>() + offset, weights_.as<float>() + offset, batch_.as<float>());
            checked_launch("divide by weights");
            checked(cudaMemcpyAsync(mean + offset, batch_.data(), static_cast<std::size_t>(count * float_bytes),
                                    cudaMemcpyDefault, stream_),
                    "copy a mean");
        }
        checked(cudaStreamSynchronize(stream_), "write a mean");
    }

  private:
    void add_batch(const float* power, bool has_lost, std::span<const LandingRow> rows) {
        std::vector<LandingRun> runs;
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(rows.size()); ++i) {
            const bool is_new =
                i == 0 || rows[static_cast<std::size_t>(i)].to != rows[static_cast<std::size_t>(i - 1)].to;
            if (is_new) runs.push_back({i, i});
            runs.back().end = i + 1;
        }
        const DeviceBuffer landing = uploaded(std::vector<LandingRow>(rows.begin(), rows.end())),
                           all_runs = uploaded(runs);
        const FeaturePlanes planes{all_.depth, all_.a_scans, std::ssize(rows)};
        auto* values = batch_.as<float>();
        take_landing<<<blocks_for(planes.samples()), threads_of_a_range, 0, stream_>>>(planes, landing.as<LandingRow>(),
                                                                                       power, values);
        checked_launch("take B-scans");
        find_coefficients(planes, values);
        const dim3 blocks(blocks_for(planes.of_row()), static_cast<unsigned>(runs.size()));
        add_landing<<<blocks, threads_of_a_range, 0, stream_>>>(
            planes, all_runs.as<LandingRun>(), landing.as<LandingRow>(), values, has_lost ? power : nullptr,
            sums_.as<float>(), weights_.as<float>());
        checked_launch("add B-scans");
        checked(cudaStreamSynchronize(stream_), "add B-scans");
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
    DeviceBuffer sums_, weights_, batch_;
    LostSurvey lost_;
    Stream stream_;
};

}  // namespace echolux::cuda
