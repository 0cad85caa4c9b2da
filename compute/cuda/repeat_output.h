// What aligning found of the repeats of a block, on its way from the GPU to the caller's memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/memory.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

class RepeatOutput {
  public:
    explicit RepeatOutput(std::int64_t b_repeats) : b_repeats_(b_repeats) {}

    // For `count` B-scan positions from `first` on: where kernels write the reports of all their repeats, or null where
    // none are wanted. The stream's former work is done.
    RepeatReport* begin(cudaStream_t stream, const std::optional<RepeatReports>& wanted, std::int64_t first,
                        std::int64_t count);

    // Everything that writes them has been enqueued.
    void copy_out(cudaStream_t stream);

    // The stream's work is done.
    void finish();

    void drop() { to_ = nullptr; }

  private:
    std::int64_t b_repeats_;
    std::int64_t bytes_ = 0;
    RepeatReport* to_ = nullptr;
    DeviceBuffer on_device_;
    PinnedBuffer staging_;
};

}  // namespace echolux::cuda
