#include "engine/acquire/joined_source.h"

#include <algorithm>
#include <utility>

#include "engine/acquire/alike_sources.h"

namespace echolux {

JoinedSource::JoinedSource(std::vector<std::unique_ptr<Source>> parts) : scan_(parts.front()->scan()) {
    require_alike(parts);
    const auto count = static_cast<std::int64_t>(parts.size());
    ScanGeometry& geometry = scan_.geometry;
    const std::int64_t block = parts.front()->block_b_scans();
    blocks_ = (geometry.b_scans + block - 1) / block;
    const std::int64_t lines = block * geometry.b_repeats * geometry.lines_per_frame();
    geometry.b_scans *= count;
    geometry.line_rate_hz *= static_cast<double>(count);
    if (geometry.line_rate_hz > 0) turn_s_ = static_cast<double>(lines) / geometry.line_rate_hz;
    for (auto& part : parts) parts_.push_back({std::move(part), {}});
}

std::int64_t JoinedSource::pool_blocks() const {
    std::int64_t all = 0;
    for (const Part& part : parts_) {
        if (part.source->pool_blocks() == 0) return 0;
        all += part.source->pool_blocks();
    }
    return all;
}

std::string JoinedSource::name() const {
    std::string names;
    for (const Part& part : parts_) names += (names.empty() ? "" : " + ") + part.source->name();
    return names;
}

double JoinedSource::line_rate_hz() const {
    double all = 0;
    for (const Part& part : parts_) all += part.source->line_rate_hz();
    return all;
}

std::vector<std::filesystem::path> JoinedSource::played_files() const {
    std::vector<std::filesystem::path> files;
    for (const Part& part : parts_) {
        for (std::filesystem::path& file : part.source->played_files()) files.push_back(std::move(file));
    }
    return files;
}

void JoinedSource::start() {
    next_ = 0;
    try {
        for (Part& part : parts_) {
            part.waits.reset();
            part.source->start();
        }
    } catch (...) {
        stop();
        throw;
    }
}

void JoinedSource::stop() noexcept {
    for (Part& part : parts_) part.source->stop();
}

// Block k of part i is block k x parts + i of all; the last one of a volume may be shorter, for all of them alike. Its
// number follows from its place, since instruments may count what they lose or not.
Block JoinedSource::as_one(Block block, std::size_t part) const {
    const auto count = static_cast<std::int64_t>(parts_.size()), index = static_cast<std::int64_t>(part);
    const std::int64_t own = block.volume * blocks_ + block.first_b_scan / block_b_scans();
    block.sequence = static_cast<std::uint64_t>(own * count + index);
    block.first_b_scan = block.first_b_scan * count + index * block.b_scans;
    block.time_s += static_cast<double>(index) * turn_s_;
    block.lost_before = 0;
    return block;
}

Arrival JoinedSource::next(std::chrono::milliseconds patience) {
    try {
        return next_of_turn(patience);
    } catch (...) {  // without one of them there are no volumes
        stop();
        throw;
    }
}

Arrival JoinedSource::next_of_turn(std::chrono::milliseconds patience) {
    const auto turn = static_cast<std::size_t>(next_ % parts_.size());
    Part& part = parts_[turn];
    if (!part.waits) {
        Arrival arrival = part.source->next(patience);
        if (arrival.kind == Arrival::Kind::ended) stop();
        if (arrival.kind != Arrival::Kind::block) return arrival;
        part.waits = as_one(std::move(arrival.block), turn);
    }
    if (part.waits->sequence > next_) {  // lost: the next instrument has its turn
        ++next_;
        return {};
    }
    Arrival arrival{Arrival::Kind::block, *std::exchange(part.waits, std::nullopt)};
    next_ = std::max(next_, arrival.block.sequence + 1);
    return arrival;
}

}  // namespace echolux
