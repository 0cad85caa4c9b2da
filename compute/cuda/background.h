// The background of each acquired B-scan on the GPU (docs/algorithms.md 2.2 a-d), found on a worker's stream before its
// lines are reconstructed. Sums are exact integers, so they do not depend on the order of the threads; the bits are the
// CPU's. Each worker has its own; what runs on from block to block is in RunningState.
#pragma once

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/plan/params.h"
#include "compute/steps/line_format.h"

namespace echolux::cuda {

// The running background after the newest block; handed from stream to stream, and from GPU to GPU,
// in sequence order.
struct RunningState {
    explicit RunningState(std::int64_t samples) : mean(zeroed(samples * std::int64_t{sizeof(double)})) {}

    // As `before` on device `from` is after what has been enqueued there so far.
    void take_over(const RunningState& before, int from, int current);

    DeviceBuffer mean;  // double [samples]
    Event changed;

  private:
    Stream copying_;
};

struct FoundBackground;

class FrameBackground {
  public:
    // As compute/cpu/background.h; `running` is needed by that mode alone and lives longer.
    FrameBackground(Background mode, const LineFormat& lines, const ScanGeometry& geometry,
                    const Calibration& calibration, double running_alpha, std::int64_t max_frames,
                    RunningState* running);

    // Enqueues the search for the backgrounds of `frames` acquired B-scans. Blocks of all workers come in sequence
    // order.
    void find(cudaStream_t stream, const std::byte* raw, std::int64_t frames, bool volume_starts);

    DeviceBackground rows() const;

  private:
    FoundBackground found() const;
    void find_mean(cudaStream_t stream, const std::byte* raw, std::int64_t frames);
    void find_median(cudaStream_t stream, const std::byte* raw, std::int64_t frames);
    void blend(cudaStream_t stream, std::int64_t frames, bool volume_starts);

    Background mode_;
    LineFormat lines_;
    std::int64_t lines_per_frame_;
    double running_alpha_;
    RunningState* running_;
    DeviceBuffer whole_;  // float [frames][samples], or [samples] where all frames share it
    DeviceBuffer rest_;   // likewise
    DeviceBuffer found_;  // double [frames][samples], where each frame has its own; while sums are made: int64
};

}  // namespace echolux::cuda
