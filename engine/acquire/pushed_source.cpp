#include "engine/acquire/pushed_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute/error.h"
#include "compute/plan/plan_tables.h"

namespace echolux {
namespace {

// Of one B-scan position, without gaps between its B-scans.
std::int64_t packed_bytes(const Scan& scan) {
    return scan.geometry.lines_per_b_scan() * scan.geometry.b_repeats * line_bytes(scan.format, scan.geometry);
}

}  // namespace

PushedSource::PushedSource(Scan scan, std::int64_t block_b_scans)
    : scan_(std::move(scan)),
      block_b_scans_(block_b_scans > 0 ? std::min(block_b_scans, scan_.geometry.b_scans) : scan_.geometry.b_scans),
      pool_(block_b_scans_ * packed_bytes(scan_), MemoryKind::pinned) {}

void PushedSource::start() {
    const std::scoped_lock lock(mutex_);
    start_ = std::chrono::steady_clock::now();
}

Arrival PushedSource::next(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, patience, [this] { return !waiting_.empty() || ends_; });
    if (waiting_.empty()) return {ends_ ? Arrival::Kind::ended : Arrival::Kind::nothing_yet, {}};
    Arrival arrival{Arrival::Kind::block, std::move(waiting_.front())};
    waiting_.pop_front();
    waiting_b_scans_ -= arrival.block.b_scans;
    taken_.notify_all();
    return arrival;
}

bool PushedSource::push(const Block& block, std::chrono::milliseconds patience) {
    check_block(block, scan_.spec(block_b_scans_));
    if (block.memory == MemoryKind::device) {
        throw Error(ErrorCode::bad_setting, "lies in the memory of a GPU", "block", "hand it to a reconstructor");
    }
    std::unique_lock lock(mutex_);
    const auto has_room = [&] {
        return ends_ || waiting_.empty() || waiting_b_scans_ + block.b_scans <= scan_.geometry.b_scans;
    };
    if (!taken_.wait_for(lock, patience, has_room)) return false;
    if (ends_) throw Error(ErrorCode::bad_setting, "comes after the end", "block", "start anew");
    waiting_.push_back(copied(block));
    waiting_b_scans_ += block.b_scans;
    came_.notify_one();
    return true;
}

Block PushedSource::copied(const Block& block) {
    const std::int64_t frames = block.b_scans * scan_.geometry.b_repeats;
    const std::int64_t frame_bytes = packed_bytes(scan_) / scan_.geometry.b_repeats;
    const BlockMemory memory = pool_.take();
    for (std::int64_t f = 0; f < frames; ++f) {
        std::memcpy(memory.data + f * frame_bytes, block.data + frame_offset(block.frames, f, frame_bytes),
                    static_cast<std::size_t>(frame_bytes));
    }
    if (block.first_b_scan == 0) ++volume_;
    Block copy = block;
    copy.data = memory.data;
    copy.bytes = frames * frame_bytes;
    copy.frames = {};
    copy.memory = memory.kind;
    copy.order = {};
    copy.volume = std::max<std::int64_t>(0, volume_);
    copy.sequence = sequence_++;
    copy.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    copy.keeper = memory.keeper;
    return copy;
}

void PushedSource::end() {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
    came_.notify_all();
    taken_.notify_all();
}

}  // namespace echolux
