#include "engine/acquire/pushed_source.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

// Returns the size of a B-scan position without gaps between its B-scans.
std::int64_t packed_bytes(const Scan& scan) {
    return scan.geometry.lines_per_b_scan() * scan.geometry.b_repeats * line_bytes(scan.format, scan.geometry);
}

}  // namespace

PushedSource::PushedSource(Scan scan, std::int64_t block_b_scans)
    : scan_(std::move(scan)),
      block_b_scans_(block_b_scans > 0 ? std::min(block_b_scans, scan_.geometry.b_scans) : scan_.geometry.b_scans) {}

void PushedSource::start() {
    const std::scoped_lock lock(mutex_);
    sequence_ = 0;
    volume_ = 0;
    is_running_ = true;
    start_ = std::chrono::steady_clock::now();
}

void PushedSource::stop() noexcept {
    const std::scoped_lock lock(mutex_);
    if (!is_running_) return;
    is_running_ = ends_ = false;
    waiting_.clear();
    waiting_b_scans_ = 0;
    taken_.notify_all();
}

Arrival PushedSource::next(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, timeout, [this] { return !waiting_.empty() || ends_; });
    if (waiting_.empty()) return {ends_ ? Arrival::Kind::ended : Arrival::Kind::nothing_yet, {}};
    Arrival arrival{Arrival::Kind::block, std::move(waiting_.front())};
    waiting_.pop_front();
    taken_.notify_all();
    Block& block = arrival.block;
    waiting_b_scans_ -= block.b_scans;
    if (block.first_b_scan == 0 && sequence_ > 0) ++volume_;
    block.volume = volume_;
    block.sequence = sequence_++;
    block.time_s = std::max(0.0, std::chrono::duration<double>(block.arrived - start_).count());
    return arrival;
}

// A block always fits into an empty queue.
bool PushedSource::push(const Block& block, std::chrono::milliseconds timeout) {
    check_block(block, scan_.spec(block_b_scans_));
    if (block.memory == MemoryKind::device) {
        throw Error(ErrorCode::bad_setting, "is in GPU memory", "block", "pass it to a reconstructor");
    }
    if (block.order.kind != CallerOrder::Kind::none) {
        throw Error(ErrorCode::bad_setting, "is copied immediately, without waiting for a GPU stream or event", "block",
                    "wait until its spectra are complete first");
    }
    std::unique_lock lock(mutex_);
    const auto has_room = [&] {
        return ends_ || waiting_.empty() || waiting_b_scans_ + block.b_scans <= scan_.geometry.b_scans;
    };
    if (!taken_.wait_for(lock, timeout, has_room)) return false;
    if (ends_) throw Error(ErrorCode::bad_setting, "was pushed after the end", "block", "start the session again");
    waiting_.push_back(copied(block));
    waiting_b_scans_ += block.b_scans;
    came_.notify_one();
    return true;
}

Block PushedSource::copied(const Block& block) {
    const std::int64_t frames = block.b_scans * scan_.geometry.b_repeats;
    const std::int64_t frame_bytes = packed_bytes(scan_) / scan_.geometry.b_repeats;
    const BlockMemory memory = memory_for(block.b_scans);
    for (std::int64_t f = 0; f < frames; ++f) {
        std::memcpy(memory.data + f * frame_bytes, block.data + frame_offset(block.frames, f, frame_bytes),
                    index(frame_bytes));
    }
    Block copy = block;
    copy.data = memory.data;
    copy.bytes = frames * frame_bytes;
    copy.frames = {};
    copy.memory = memory.kind;
    copy.order = {};
    copy.arrived = std::chrono::steady_clock::now();  // next() computes time stamps from it
    copy.keeper = memory.keeper;
    return copy;
}

// Rounds the capacity up to a power of two. Few capacities allow blocks of different sizes to share memory.
BlockMemory PushedSource::memory_for(std::int64_t b_scans) {
    const auto rounded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(b_scans)));
    const std::int64_t room = std::min(rounded, block_b_scans_);
    return pools_.try_emplace(room, room * packed_bytes(scan_), MemoryKind::pinned).first->second.take();
}

void PushedSource::end() {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
    came_.notify_all();
    taken_.notify_all();
}

}  // namespace echolux
