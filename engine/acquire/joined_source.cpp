#include "engine/acquire/joined_source.h"

#include <algorithm>
#include <utility>

#include "engine/acquire/alike_sources.h"

namespace echolux {
namespace {

// A combined volume has the B-scans of all parts, at the sum of their line rates.
Scan joined_scan(const std::vector<std::unique_ptr<Source>>& parts) {
    require_alike(parts);
    const auto count = static_cast<std::int64_t>(parts.size());
    Scan scan = parts.front()->scan();
    scan.geometry.b_scans *= count;
    scan.geometry.line_rate_hz *= static_cast<double>(count);
    return scan;
}

}  // namespace

JoinedSource::JoinedSource(std::vector<std::unique_ptr<Source>> parts) : SeveralSources(std::move(parts), joined_scan) {
    const ScanGeometry& geometry = scan_.geometry;
    const std::int64_t block = block_b_scans();
    const std::int64_t lines = block * geometry.b_repeats * geometry.lines_per_frame();
    blocks_ = (parts_.front().source->scan().geometry.b_scans + block - 1) / block;
    if (geometry.line_rate_hz > 0) turn_s_ = static_cast<double>(lines) / geometry.line_rate_hz;
}

// Unlimited if one of the parts is.
std::int64_t JoinedSource::pool_blocks() const {
    std::int64_t all = 0;
    for (const Part& part : parts_) {
        if (part.source->pool_blocks() == 0) return 0;
        all += part.source->pool_blocks();
    }
    return all;
}

void JoinedSource::start() {
    next_ = 0;
    SeveralSources::start();
}

// Converts block k of part i to block k * parts + i of the whole. The last block of a volume may be shorter, for all
// parts alike. The sequence number follows from the position, because some instruments count lost blocks and some do
// not.
Block JoinedSource::as_one(Block block, std::size_t part) const {
    const auto count = static_cast<std::int64_t>(parts_.size()), index = static_cast<std::int64_t>(part);
    const std::int64_t own = block.volume * blocks_ + block.first_b_scan / block_b_scans();
    block.sequence = static_cast<std::uint64_t>(own * count + index);
    block.first_b_scan = block.first_b_scan * count + index * block.b_scans;
    block.time_s += static_cast<double>(index) * turn_s_;
    block.lost_before = 0;
    return block;
}

// Asks only the part whose turn it is. A later number than expected means that blocks were lost.
Arrival JoinedSource::next_of_all(Clock::time_point until) {
    const auto turn = static_cast<std::size_t>(next_ % parts_.size());
    Part& part = parts_[turn];
    if (!part.waits) {
        if (std::optional<Arrival> other = anything_but_a_block(part, until)) return *std::move(other);
        part.waits = as_one(*std::move(part.waits), turn);
    }
    if (part.waits->sequence > next_) {  // lost: continue with the next instrument
        ++next_;
        return {};
    }
    Arrival arrival{Arrival::Kind::block, *std::exchange(part.waits, std::nullopt)};
    next_ = std::max(next_, arrival.block.sequence + 1);
    return arrival;
}

}  // namespace echolux
