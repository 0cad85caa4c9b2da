// Memory for blocks of one size that goes round: a block that nobody holds any more is filled again. Pinning memory
// takes longer than filling it. Bounded by how many blocks its users hold at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "compute/block_memory.h"

namespace echolux {

class BlockPool {
  public:
    // Blocks of at most `bytes`, of host or pinned memory.
    BlockPool(std::int64_t bytes, MemoryKind wanted) : bytes_(bytes), wanted_(wanted) {}

    // Comes back with the last copy of its keeper, which may outlive the pool. Throws Error{out_of_memory}.
    BlockMemory take();

    // Nothing when `max` blocks are out.
    std::optional<BlockMemory> take_below(std::int64_t max);

  private:
    struct Idle {
        std::mutex mutex;
        std::vector<BlockMemory> memory;
        std::int64_t out = 0;  // blocks that somebody holds
    };

    std::int64_t bytes_;
    MemoryKind wanted_;
    std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
};

}  // namespace echolux
