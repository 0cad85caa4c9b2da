#include "engine/live/display_queue.h"

#include <algorithm>
#include <utility>

namespace echolux {

void DisplayQueue::push(Block block, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const bool waits = overload_ == Overload::source_waits && block.first_b_scan == 0;
    const auto has_begun = [this] { return closed_ || !newest_; };
    if (waits && !threads_.wait(lock, begun_, stop, Threads::Clock::time_point::max(), has_begun)) return;
    ++stats_.pushed;
    if (block.first_b_scan == 0) begin(block);
    Volume& arriving = newest_ ? *newest_ : current_;
    const bool follows = block.volume == arriving.number && block.first_b_scan == arriving.next_b_scan;
    if (!follows) return leave_out_stray(block, arriving);
    arriving.next_b_scan += block.b_scans;
    if (arriving.fate != Fate::wanted) return count_left_out(arriving.fate, 1);
    arriving.blocks.push_back(std::move(block));
    count_waiting();
    came_.notify_one();
}

// Starts the block's volume. Drops the waiting volume if it was not started, and the rest of one in progress whose last
// blocks never arrived.
void DisplayQueue::begin(const Block& block) {
    if (newest_) leave_out(*newest_, Fate::overtaken);
    if (current_.number >= 0 && current_.next_b_scan < b_scans_) leave_out(current_, Fate::incomplete);
    Volume fresh;
    fresh.number = block.volume;
    if (is_over(current_)) {
        current_ = std::move(fresh);
        newest_.reset();
    } else {
        newest_ = std::move(fresh);
    }
}

// Drops the block, whose volume lacks an earlier block, perhaps the first ones.
void DisplayQueue::leave_out_stray(const Block& block, Volume& arriving) {
    if (arriving.next_b_scan < b_scans_) leave_out(arriving, Fate::incomplete);
    count_left_out(Fate::incomplete, 1);
    if (block.volume == arriving.number || block.volume == stray_) return;
    stray_ = block.volume;
    ++stats_.incomplete_volumes;
}

void DisplayQueue::leave_out(Volume& volume, Fate fate) {
    if (volume.number < 0 || volume.fate != Fate::wanted || volume.taken_to == b_scans_) return;
    volume.fate = fate;
    if (fate == Fate::overtaken) ++stats_.overtaken_volumes;
    if (fate == Fate::incomplete) ++stats_.incomplete_volumes;
    count_left_out(fate, std::ssize(volume.blocks));
    volume.blocks.clear();
    count_waiting();
}

void DisplayQueue::count_left_out(Fate fate, std::int64_t blocks) {
    (fate == Fate::overtaken    ? stats_.overtaken
     : fate == Fate::incomplete ? stats_.incomplete
                                : stats_.given_up) += blocks;
}

std::optional<Block> DisplayQueue::take(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    is_busy_ = false;
    threads_.wait(lock, came_, {}, threads_.now() + patience, [this] { return closed_ || has_block(); });
    if (closed_ || !has_block()) return std::nullopt;
    if (current_.blocks.empty()) {
        current_ = std::move(*newest_);
        newest_.reset();
        begun_.notify_one();
    }
    Block block = std::move(current_.blocks.front());
    current_.blocks.pop_front();
    current_.taken_to = block.first_b_scan + block.b_scans;
    ++stats_.taken;
    is_busy_ = true;
    count_waiting();
    return block;
}

// Returns whether nothing more will be taken from the volume.
bool DisplayQueue::is_over(const Volume& volume) const {
    return volume.number < 0 || volume.fate != Fate::wanted || volume.taken_to == b_scans_;
}

bool DisplayQueue::has_block() const {
    return !current_.blocks.empty() || (is_over(current_) && newest_ && !newest_->blocks.empty());
}

void DisplayQueue::give_up_current() {
    const std::scoped_lock lock(mutex_);
    leave_out(current_, Fate::given_up);
}

bool DisplayQueue::is_idle() const {
    const std::scoped_lock lock(mutex_);
    return !is_busy_ && stats_.waiting == 0;
}

void DisplayQueue::close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    came_.notify_all();
    begun_.notify_all();
}

void DisplayQueue::clear() {
    const std::scoped_lock lock(mutex_);
    stats_ = {};
    current_ = {};
    newest_.reset();
    stray_ = -1;
    closed_ = false;
}

void DisplayQueue::count_waiting() {
    stats_.waiting = std::ssize(current_.blocks) + (newest_ ? std::ssize(newest_->blocks) : 0);
    stats_.max_waiting = std::max(stats_.max_waiting, stats_.waiting);
}

QueueStats DisplayQueue::stats() const {
    const std::scoped_lock lock(mutex_);
    return stats_;
}

}  // namespace echolux
