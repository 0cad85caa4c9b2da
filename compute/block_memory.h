// Memory for blocks of raw spectra: aligned to pages, and pinned where a GPU will fetch from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "compute/place.h"

namespace echolux {

struct BlockMemory {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    MemoryKind kind = MemoryKind::host;
    std::shared_ptr<const void> keeper;  // frees it with its last copy
};

// `wanted` pinned becomes host where there is no GPU or pinning is refused. Throws Error{out_of_memory}.
BlockMemory block_memory(std::int64_t bytes, MemoryKind wanted = MemoryKind::pinned);

}  // namespace echolux
