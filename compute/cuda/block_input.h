// Provides raw spectra to kernels, on a worker's stream. Pinned memory is copied concurrently with
// other streams, or read in place over the link. Pageable memory passes through a pinned buffer. GPU memory is used in
// place. Kernels need contiguous B-scans, so blocks with gaps are always copied; the copy skips the gaps at no extra
// cost.
#pragma once

#include "compute/backend.h"
#include "compute/cuda/memory.h"
#include "compute/place.h"

namespace echolux::cuda {

// Input buffers of one worker.
class BlockInput {
  public:
    // For blocks of up to `max_frames` acquired B-scans of `frame_bytes` each. Allocates the buffers of pinned blocks
    // here, and those of other blocks on first use. Throws Error{out_of_memory}.
    BlockInput(SpectraPath path, std::int64_t frame_bytes, std::int64_t max_frames);

    // Returns the first `frames` acquired B-scans of the block, contiguous. `path` selects how pinned blocks are
    // accessed. Previous work of the stream must be complete, and the block's memory is in use until the stream's work
    // is complete. Throws Error{bad_setting, out_of_memory, device}.
    const std::byte* bring(cudaStream_t stream, const Block& block, std::int64_t frames, SpectraPath path);

  private:
    const std::byte* staged(const std::byte* first, std::int64_t stride, std::int64_t frames);
    const std::byte* copied(cudaStream_t stream, const std::byte* first, std::int64_t stride, std::int64_t frames);

    std::int64_t frame_bytes_;
    std::int64_t max_frames_;
    DeviceBuffer on_device_;
    PinnedBuffer staging_;  // for pageable memory
};

}  // namespace echolux::cuda
