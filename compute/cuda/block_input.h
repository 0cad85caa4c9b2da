// Brings a block of raw spectra to where kernels can read it, on a worker's stream: pinned memory is copied beside the
// work of other streams, or read over the link as it lies; pageable memory goes through a pinned buffer; what is on the
// GPU stays where it is. Kernels find B-scan after B-scan: where there is something between them it is left out by the
// copy, which takes no longer for it, and such a block is copied in any case.
#pragma once

#include "compute/backend.h"
#include "compute/cuda/memory.h"
#include "compute/place.h"

namespace echolux::cuda {

class BlockInput {
  public:
    // For blocks of at most `max_frames` acquired B-scans of `frame_bytes` each. What pinned blocks need is allocated
    // here, what other ones need besides with the first of them. Throws Error{out_of_memory}.
    BlockInput(SpectraPath path, std::int64_t frame_bytes, std::int64_t max_frames);

    // How pinned blocks come is up to each call. The stream's former work is done. The block's first `frames` acquired
    // B-scans, without a gap; its memory is used until the stream is done. Throws Error{bad_setting, out_of_memory,
    // device}.
    const std::byte* bring(cudaStream_t stream, const Block& block, std::int64_t frames, SpectraPath path);

  private:
    const std::byte* staged(const std::byte* first, std::int64_t stride, std::int64_t frames);
    const std::byte* copied(cudaStream_t stream, const std::byte* first, std::int64_t stride, std::int64_t frames);

    std::int64_t frame_bytes_;
    std::int64_t max_frames_;
    DeviceBuffer on_device_;
    PinnedBuffer staging_;
};

}  // namespace echolux::cuda
