#include "engine/offline/block_stream.h"

#include <algorithm>

namespace echolux {

BlockStream::BlockStream(SpectraReader& reader, BlockPool& pool, std::int64_t volume, std::int64_t begin,
                         std::int64_t end, std::int64_t max_b_scans, const std::vector<MissingBScans>& missing)
    : reader_(reader), pool_(pool), volume_(volume), position_(begin), end_(end), max_b_scans_(max_b_scans),
      missing_(missing) {
    read_ahead();
}

std::optional<Block> BlockStream::next() {
    std::optional<Block> block = coming_.get();
    read_ahead();
    return block;
}

void BlockStream::read_ahead() {
    const std::int64_t first = position_;
    const BScanRun run = run_from(missing_, volume_, first, end_);
    const std::int64_t count = std::min(max_b_scans_, run.end - first);
    const std::uint64_t sequence = sequence_++;
    position_ += std::max<std::int64_t>(count, 0);
    coming_ = std::async(std::launch::async, [=, this]() -> std::optional<Block> {
        if (count <= 0) return std::nullopt;
        Block block;
        block.volume = volume_;
        block.first_b_scan = first;
        block.b_scans = count;
        block.sequence = sequence;
        if (run.is_missing) return block;
        const BlockMemory memory = pool_.take();
        block.data = memory.data;
        block.bytes = count * reader_.bytes_per_b_scan();
        block.memory = memory.kind;
        reader_.read(volume_, first, count, {memory.data, static_cast<std::size_t>(block.bytes)});
        block.keeper = memory.keeper;
        return block;
    });
}

}  // namespace echolux
