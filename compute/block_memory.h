// Memory for blocks of raw spectra: page-aligned, and pinned if a GPU will read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "compute/place.h"

namespace echolux {

// Host or device memory of a block. Copies share the memory.
struct BlockMemory {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    MemoryKind kind = MemoryKind::host;
    std::shared_ptr<const void> keeper;  // the last copy frees the memory
};

// Allocates memory of `bytes` bytes. Pinned memory falls back to pageable host memory if there is no GPU or pinning is
// refused. Throws Error{out_of_memory}.
BlockMemory block_memory(std::int64_t bytes, MemoryKind wanted = MemoryKind::pinned);

}  // namespace echolux
