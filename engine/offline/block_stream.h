// The blocks of a scan part one after the other, the next one being read while the last one is worked on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "compute/place.h"
#include "engine/block_pool.h"
#include "engine/scan/scan.h"

namespace echolux {

class BlockStream {
  public:
    // B-scan positions [begin, end) of `volume`, at most `max_b_scans` in a block, which the pool's blocks hold.
    BlockStream(SpectraReader& reader, BlockPool& pool, std::int64_t volume, std::int64_t begin, std::int64_t end,
                std::int64_t max_b_scans);

    // Nothing after the last block. The block's memory lives until its last copy is gone. Throws what reading throws.
    std::optional<Block> next();

  private:
    void read_ahead();

    SpectraReader& reader_;
    BlockPool& pool_;
    std::int64_t volume_;
    std::int64_t position_;
    std::int64_t end_;
    std::int64_t max_b_scans_;
    std::uint64_t sequence_ = 0;
    std::future<std::optional<Block>> coming_;  // its destructor waits for the read under way
};

}  // namespace echolux
