// Reads the blocks of a part of a scan. The next block is read in the background while the current one is processed.
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
    // Reads B-scan positions [begin, end) of `volume` in blocks of at most `max_b_scans`, for which the pool's blocks
    // must have room. `missing` B-scans become separate blocks without data. Keeps references to reader, pool and
    // `missing`.
    BlockStream(SpectraReader& reader, BlockPool& pool, std::int64_t volume, std::int64_t begin, std::int64_t end,
                std::int64_t max_b_scans, const std::vector<MissingBScans>& missing);

    // Returns the next block, nullopt after the last one. The block's memory lives until its last copy is destroyed.
    // Throws the errors of reading.
    std::optional<Block> next();

  private:
    void read_ahead();

    SpectraReader& reader_;
    BlockPool& pool_;
    std::int64_t volume_;
    std::int64_t position_;
    std::int64_t end_;
    std::int64_t max_b_scans_;
    const std::vector<MissingBScans>& missing_;
    std::uint64_t sequence_ = 0;
    std::future<std::optional<Block>> coming_;  // its destructor waits for the read in progress
};

}  // namespace echolux
