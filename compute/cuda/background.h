// Computes the background of each acquired B-scan on the GPU (docs/algorithms.md 2.2 a-d) on a worker's stream before
// its lines are reconstructed. Sums are exact integers, so they do not depend on the order of threads and are
// bit-identical to the CPU. Each worker has its own object. State that carries over from block to block is in
// RunningState.
#pragma once

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/plan/params.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// The running background after the latest block. It is passed between streams and between GPUs in sequence order.
struct RunningState {
    explicit RunningState(std::int64_t samples) : mean(zeroed(samples * std::int64_t{sizeof(double)})) {}

    // Enqueues a copy of `before` from device `from`, after all work enqueued there.
    void take_over(const RunningState& before, int from, int current);

    DeviceBuffer mean;  // double [samples]
    Event changed;      // recorded after each change of `mean`

  private:
    Stream copying_;
};

struct BackgroundBuffers;

// Backgrounds of one worker, computed on its stream.
class FrameBackground {
  public:
    // Like compute/cpu/background.h. `running` is only needed in that mode and must outlive this object.
    FrameBackground(Background mode, const LineFormat& lines, const ScanGeometry& geometry,
                    const Calibration& calibration, double running_alpha, std::int64_t max_frames,
                    RunningState* running);

    // Enqueues the computation of the backgrounds of `frames` acquired B-scans. The blocks of all workers must be in
    // sequence order.
    void find(cudaStream_t stream, const std::byte* raw, std::int64_t frames, bool volume_starts);

    // Returns the backgrounds for kernels. Valid after the work of find().
    DeviceBackground rows() const;

  private:
    BackgroundBuffers found() const;
    void find_mean(cudaStream_t stream, const std::byte* raw, std::int64_t frames);
    void find_median(cudaStream_t stream, const std::byte* raw, std::int64_t frames);
    void blend(cudaStream_t stream, std::int64_t frames, bool volume_starts);

    Background mode_;
    LineFormat lines_;
    std::int64_t lines_per_frame_;
    double running_alpha_;
    RunningState* running_;
    DeviceBuffer whole_;  // float [frames][samples], or [samples] if shared by all frames
    DeviceBuffer rest_;   // same shape
    DeviceBuffer found_;  // double [frames][samples] if each frame has its own; int64 during summation
};

// Enqueues the removal of fixed lines in depth from the bins of whole B-scans, [frames][lines] (docs/algorithms.md 2.2
// d and e; Moon 2010).
void remove_fixed_pattern(cudaStream_t stream, FixedPattern mode, std::int64_t segments, const DeviceBins& bins,
                          std::int64_t frames, std::int64_t lines, std::int64_t depth);

}  // namespace echolux::cuda
