// Brings a block of raw spectra to where kernels can read it, on a worker's stream: pinned memory is copied beside the
// work of other streams, or read over the link as it lies; pageable memory goes through a pinned buffer; what is on the
// GPU stays where it is.
#pragma once

#include "compute/backend.h"
#include "compute/cuda/memory.h"
#include "compute/place.h"

namespace echolux::cuda {

class BlockInput {
  public:
    // For blocks of at most `most_bytes`. What pinned blocks need is allocated here, what pageable ones need besides
    // with the first of them. Throws Error{out_of_memory}.
    BlockInput(SpectraPath path, std::int64_t most_bytes);

    // The stream's former work is done. `bytes` of the block are wanted; its memory is used until the stream is done.
    // Throws Error{bad_setting, out_of_memory, device}.
    const std::byte* bring(cudaStream_t stream, const Block& block, std::int64_t bytes);

  private:
    const std::byte* copied(cudaStream_t stream, const std::byte* pinned, std::int64_t bytes);

    SpectraPath path_;
    std::int64_t most_bytes_;
    DeviceBuffer on_device_;
    PinnedBuffer staging_;
};

}  // namespace echolux::cuda
