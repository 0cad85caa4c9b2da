#include "engine/live/display_queue.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "compute/error.h"
#include "compute/plan/describe_stats.h"
#include "compute/plan/tables.h"
#include "compute/plural.h"

namespace echolux {

namespace {

constexpr std::int64_t max_late = 16;  // blocks in a row
constexpr double max_late_s = 1;       // tolerance beyond the line rate before a clock is reported to leap

// A report is repeated when its count gains a digit.
std::size_t digits(std::int64_t n) {
    return std::to_string(n).size();
}

}  // namespace

template <>
const std::vector<Stat<ArrivalStats>>& describe_stats<ArrivalStats>() {
    using S = ArrivalStats;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("blocks", &S::blocks, "blocks", "accepted"),
        statistic<S>("volumes", &S::volumes, "volumes", "whose last block arrived"),
        statistic<S>("a_scans", &S::a_scans, "A-scans", "received"),
        statistic<S>("bytes", &S::bytes, "bytes", "received"),
        statistic<S>("lost_blocks", &S::lost_blocks, "blocks",
                     "lost by the source: reported by it, or missing in its numbers")
            .in("Dropped", "lost by the source"),
        statistic<S>("repeated_blocks", &S::repeated_blocks, "blocks", "rejected: number or position repeated or late")
            .in("Dropped", "repeated"),
        statistic<S>("misshapen_blocks", &S::misshapen_blocks, "blocks", "rejected: they do not match the scan")
            .in("Dropped", "malformed"),
        statistic<S>("time_jumps", &S::time_jumps, "", "time stamps that run backwards or jump")
            .in("Dropped", "clock jumps"),
    });
    return all;
}

template <>
const std::vector<Stat<QueueStats>>& describe_stats<QueueStats>() {
    using S = QueueStats;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("pushed_blocks", &S::pushed_blocks, "blocks",
                     "sent to the display: taken + waiting + overtaken + incomplete + given up"),
        statistic<S>("taken_blocks", &S::taken_blocks, "blocks", "taken for reconstruction"),
        statistic<S>("overtaken_blocks", &S::overtaken_blocks, "blocks", "skipped because a newer volume arrived"),
        statistic<S>("overtaken_volumes", &S::overtaken_volumes, "volumes", "with superseded blocks")
            .in("Dropped", "superseded"),
        statistic<S>("incomplete_blocks", &S::incomplete_blocks, "blocks", "of volumes with a missing block"),
        statistic<S>("incomplete_volumes", &S::incomplete_volumes, "volumes", "with a missing block")
            .in("Dropped", "blocks missing"),
        statistic<S>("given_up_blocks", &S::given_up_blocks, "blocks", "of volumes that could not be finished"),
        statistic<S>("waiting_blocks", &S::waiting_blocks, "blocks", "waiting now"),
        statistic<S>("max_waiting_blocks", &S::max_waiting_blocks, "blocks", "max waiting"),
    });
    return all;
}

Arrivals::Arrivals(const ReconstructionSpec& spec, Report report) : spec_(spec), report_(std::move(report)) {}

bool Arrivals::admit(const Block& block) {
    if (!has_right_shape(block)) return false;
    if (is_late(block)) {
        exclude_late(block);
        return false;
    }
    late_ = 0;
    // A source that counts its losses may or may not skip their numbers: the larger count is the true one.

    const auto left_out = static_cast<std::int64_t>(block.sequence - next_sequence_);
    const std::int64_t lost = std::max(left_out, block.lost_before);
    if (lost > 0)
        count(stats_.lost_blocks, lost, fmt::format("{} lost before block {}", plural(lost, "blocks"), block.sequence),
              "lost");
    next_sequence_ = block.sequence + 1;
    next_place_ = place_of(block) + block.b_scans;
    watch_clock(block, lost);
    ++stats_.blocks;
    if (block.first_b_scan + block.b_scans == spec_.geometry.b_scans) ++stats_.volumes;
    stats_.a_scans += block.b_scans * spec_.geometry.b_repeats * spec_.geometry.lines_per_b_scan();
    stats_.bytes += block.bytes;
    return true;
}

std::int64_t Arrivals::place_of(const Block& block) const {
    return block.volume * spec_.geometry.b_scans + block.first_b_scan;
}

bool Arrivals::is_late(const Block& block) const {
    return block.sequence < next_sequence_ || place_of(block) < next_place_;
}

// A few blocks may be late or sent twice. Many in a row are new blocks with wrong numbers, which would never recover.
void Arrivals::exclude_late(const Block& block) {
    count(stats_.repeated_blocks, 1, fmt::format("block {} arrived twice or too late: dropped", block.sequence),
          "repeated");
    const bool continues = block.sequence > late_sequence_ && place_of(block) > late_place_;
    late_ = continues ? late_ + 1 : 1;
    late_sequence_ = block.sequence;
    late_place_ = place_of(block);
    if (late_ < max_late) return;
    throw Error(
        ErrorCode::device,
        fmt::format("its numbers run backwards: block {} of volume {} came after block {} of volume {}", block.sequence,
                    block.volume, next_sequence_ - 1, (next_place_ - 1) / spec_.geometry.b_scans),
        "source", "check what resets its counter");
}

void Arrivals::note_lost(std::int64_t blocks) {
    if (blocks > 0)
        count(stats_.lost_blocks, blocks, fmt::format("{} lost at the end", plural(blocks, "blocks")), "lost");
}

bool Arrivals::has_right_shape(const Block& block) {
    try {
        check_block(block, spec_);
        return true;
    } catch (const Error& error) {
        count(stats_.misshapen_blocks, 1, fmt::format("block {} dropped: {}", block.sequence, error.problem()),
              "misshapen");
        return false;
    }
}

void Arrivals::watch_clock(const Block& block, std::int64_t lost) {
    const double since = block.time_s - time_s_;
    const double expected = block_s_ * static_cast<double>(1 + lost);
    const bool leaps = !std::isfinite(since) || since < 0 || since > 3 * expected + max_late_s;
    if (stats_.blocks > 0 && leaps) {
        count(stats_.time_jumps, 1,
              fmt::format("the source's clock jumped by {:.3g} s at block {}", since, block.sequence), "clock");
    }
    if (std::isfinite(block.time_s)) time_s_ = block.time_s;
    const ScanGeometry& scan = spec_.geometry;
    const std::int64_t lines = block.b_scans * scan.b_repeats * scan.lines_per_frame();
    block_s_ = scan.line_rate_hz > 0 ? static_cast<double>(lines) / scan.line_rate_hz : 0;
}

void Arrivals::count(std::int64_t& of, std::int64_t by, const std::string& line, const std::string& topic) {
    const std::int64_t before = of;
    of += by;
    if (before == 0) return report_(line, topic);
    if (digits(of) > digits(before)) report_(fmt::format("{} ({} total)", line, of), topic);
}

void DisplayQueue::push(Block block, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const bool waits = overload_ == Overload::source_waits && block.first_b_scan == 0;
    const auto has_begun = [this] { return closed_ || !newest_; };
    if (waits && !threads_.wait(lock, begun_, stop, Threads::Clock::time_point::max(), has_begun)) return;
    ++stats_.pushed_blocks;
    if (block.first_b_scan == 0) begin(block);
    Volume& arriving = newest_ ? *newest_ : current_;
    const bool follows = block.volume == arriving.number && block.first_b_scan == arriving.next_b_scan;
    if (!follows) return leave_out_stray(block, arriving);
    arriving.next_b_scan += block.b_scans;
    if (arriving.status != VolumeStatus::wanted) return count_left_out(arriving.status, 1);
    arriving.blocks.push_back(std::move(block));
    count_waiting();
    came_.notify_one();
}

// Starts the block's volume. Drops the waiting volume if it was not started, and the rest of one in progress whose last
// blocks never arrived.
void DisplayQueue::begin(const Block& block) {
    if (newest_) leave_out(*newest_, VolumeStatus::overtaken);
    if (current_.number >= 0 && current_.next_b_scan < b_scans_) leave_out(current_, VolumeStatus::incomplete);
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
    if (arriving.next_b_scan < b_scans_) leave_out(arriving, VolumeStatus::incomplete);
    count_left_out(VolumeStatus::incomplete, 1);
    if (block.volume == arriving.number || block.volume == stray_) return;
    stray_ = block.volume;
    ++stats_.incomplete_volumes;
}

void DisplayQueue::leave_out(Volume& volume, VolumeStatus status) {
    if (volume.number < 0 || volume.status != VolumeStatus::wanted || volume.taken_to == b_scans_) return;
    volume.status = status;
    if (status == VolumeStatus::overtaken) ++stats_.overtaken_volumes;
    if (status == VolumeStatus::incomplete) ++stats_.incomplete_volumes;
    count_left_out(status, std::ssize(volume.blocks));
    volume.blocks.clear();
    count_waiting();
}

void DisplayQueue::count_left_out(VolumeStatus status, std::int64_t blocks) {
    (status == VolumeStatus::overtaken    ? stats_.overtaken_blocks
     : status == VolumeStatus::incomplete ? stats_.incomplete_blocks
                                          : stats_.given_up_blocks) += blocks;
}

std::optional<Block> DisplayQueue::take(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    is_busy_ = false;
    threads_.wait(lock, came_, {}, threads_.now() + timeout, [this] { return closed_ || has_block(); });
    if (closed_ || !has_block()) return std::nullopt;
    if (current_.blocks.empty()) {
        current_ = std::move(*newest_);
        newest_.reset();
        begun_.notify_one();
    }
    Block block = std::move(current_.blocks.front());
    current_.blocks.pop_front();
    current_.taken_to = block.first_b_scan + block.b_scans;
    ++stats_.taken_blocks;
    is_busy_ = true;
    count_waiting();
    return block;
}

// Returns whether nothing more will be taken from the volume.
bool DisplayQueue::is_over(const Volume& volume) const {
    return volume.number < 0 || volume.status != VolumeStatus::wanted || volume.taken_to == b_scans_;
}

bool DisplayQueue::has_block() const {
    return !current_.blocks.empty() || (is_over(current_) && newest_ && !newest_->blocks.empty());
}

void DisplayQueue::abandon_current() {
    const std::scoped_lock lock(mutex_);
    leave_out(current_, VolumeStatus::abandoned);
}

bool DisplayQueue::is_idle() const {
    const std::scoped_lock lock(mutex_);
    return !is_busy_ && stats_.waiting_blocks == 0;
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
    stats_.waiting_blocks = std::ssize(current_.blocks) + (newest_ ? std::ssize(newest_->blocks) : 0);
    stats_.max_waiting_blocks = std::max(stats_.max_waiting_blocks, stats_.waiting_blocks);
}

QueueStats DisplayQueue::stats() const {
    const std::scoped_lock lock(mutex_);
    return stats_;
}

}  // namespace echolux
