// Memory of jobs and sessions: reused blocks, and the limit of a job.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/voxel_target.h"

namespace echolux {

// ---- Reuses memory blocks of one size: a block returns to the pool when its last user releases it. Reuse matters
// because pinning memory takes longer than filling it. The pool grows to the maximum number of blocks in use at once
// and never shrinks.

// Thread-safe pool of blocks. Blocks may outlive it.
class BlockPool {
  public:
    // Blocks hold at most `bytes`. `wanted` selects pageable host memory or pinned memory.
    BlockPool(std::int64_t bytes, MemoryKind wanted) : bytes_(bytes), wanted_(wanted) {}

    // Returns an idle block, or allocates one. It returns to the pool with the last copy of its keeper, which may
    // outlive the pool. Safe from any thread. Throws Error{out_of_memory}.
    BlockMemory take();

    // Like take(), but returns nullopt if `max` blocks are in use.
    std::optional<BlockMemory> take_below(std::int64_t max);

  private:
    // State shared with the keepers of blocks, which hold it weakly.
    struct Idle {
        std::mutex mutex;
        std::vector<BlockMemory> memory;
        std::int64_t out = 0;  // blocks in use
    };

    std::int64_t bytes_;
    MemoryKind wanted_;
    std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
};

// ---- Memory limits of a job, so that it is refused up front instead of making the machine swap.

// Returns the bytes that can be allocated now without swapping, or a very large number if unknown. ECHOLUX_MEMORY_MIB
// overrides the system's value.
std::int64_t available_memory_bytes();

// Throws Error{out_of_memory} with `what` and both sizes if `bytes` exceeds 90 % of the available memory.
void require_memory(std::int64_t bytes, const std::string& what, const std::string& remedy);

}  // namespace echolux
