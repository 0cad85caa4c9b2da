// Transfers the alignment reports of a block from the GPU to the caller's memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/memory.h"
#include "compute/place.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

// Reports of one worker's current block.
class RepeatOutput {
  public:
    explicit RepeatOutput(std::int64_t b_repeats) : b_repeats_(b_repeats) {}

    // Returns the GPU memory for the reports of all repeats of `count` B-scan positions starting at `first`, or null if
    // not requested. Previous work of the stream must be complete.
    RepeatReport* begin(cudaStream_t stream, const std::optional<RepeatReports>& wanted, std::int64_t first,
                        std::int64_t count);

    // Enqueues the copy to the host. Call after enqueuing the kernels that write the reports.
    void copy_out(cudaStream_t stream);

    // Copies to the caller's memory. The stream's work must be complete.
    void finish();

    // Discards the reports.
    void drop() { to_ = nullptr; }

  private:
    std::int64_t b_repeats_;
    std::int64_t bytes_ = 0;
    RepeatReport* to_ = nullptr;
    DeviceBuffer on_device_;
    PinnedBuffer staging_;
};

}  // namespace echolux::cuda
