// The reconstructing thread of a session.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/live/session.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr auto looks_around_after = 100ms;
constexpr auto idle_patience = 5ms;  // while a changed setting is being prepared
constexpr auto stalled_after = 1s;   // a partly fed volume is no longer expected to continue

}  // namespace

void Session::begin_sink_call() {
    const std::scoped_lock lock(mutex_);
    sink_call_.wait(threads_.now());
}

void Session::end_sink_call() {
    const std::scoped_lock lock(mutex_);
    if (const auto lasted = sink_call_.end(threads_.now()))
        note(fmt::format("reconstruction goes on after {:.0f} s", *lasted), false, "stuck");
}

// Runs a call of the sink and reports it as stuck if it takes too long.
template <class Work>
auto Session::watched(const Work& work) {
    struct Call {
        explicit Call(Session& of) : session(of) { session.begin_sink_call(); }
        ~Call() { session.end_sink_call(); }
        Session& session;
    };
    const Call call(*this);
    return work();
}

void Session::process(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const std::optional<Block> block = queue_.take(expects_change_ ? idle_patience : looks_around_after);
        survive([&] {
            if (block)
                feed(*block);
            else
                look_around();
        });
    }
}

// Work while no blocks arrive.
void Session::look_around() {
    const auto collect = [this] { watched([this] { sink_.collect(); }); };
    if (!is_between_volumes()) return collect();
    is_within_volume_ = false;
    if (take_change(BlockSink::Moment::between_volumes))
        reprocess();
    else
        collect();
}

// Returns true if no volume is partly fed, or if the rest is not expected to come.
bool Session::is_between_volumes() const {
    if (!is_within_volume_ || threads_.now() - fed_at_ > stalled_after) return true;
    const std::scoped_lock lock(mutex_);
    return !stats_.running || stats_.ended;
}

void Session::feed(const Block& block) {
    take_change(block.first_b_scan == 0 ? BlockSink::Moment::between_volumes : BlockSink::Moment::within_volume);
    const auto begun = threads_.now();
    const bool was_fed = try_feed(block);
    fed_at_ = threads_.now();
    is_within_volume_ = was_fed && !ends_volume(block);
    const std::scoped_lock lock(mutex_);
    if (begun <= start_) return;  // block of a previous run, whose stats were reset
    busy_s_ += seconds_between(begun, fed_at_);
    worked_until_ = fed_at_;
    stats_.waiting.add(seconds_between(block.arrived, begun));
    stats_.feeding.add(seconds_between(begun, fed_at_));
    if (!was_fed) return;
    ++stats_.fed_blocks;
    stats_.fed_lines += lines_of(block);
    processed_.add(lines_of(block), fed_at_);
    if (ends_volume(block)) ++stats_.finished_volumes;
}

// Returns false if the block's volume will not be finished.
bool Session::try_feed(const Block& block) {
    std::int64_t SessionStats::*counter = &SessionStats::failed_volumes;
    bool was_fed = false;
    if (block.first_b_scan == 0) is_given_up_ = false;
    survive([&] {
        was_fed = watched([&] { return sink_.feed(block); });
        counter = &SessionStats::dropped_volumes;
    });
    if (was_fed) {
        retain(block);
        return true;
    }
    coming_.clear();
    if (counter == &SessionStats::failed_volumes) queue_.give_up_current();
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(is_given_up_, true)) ++(stats_.*counter);
    return false;
}

// Keeps the last complete volume until the next one is complete, for settings that change while no data arrive.
void Session::retain(const Block& block) {
    if (!retains_) return;
    if (block.first_b_scan == 0) coming_.clear();
    coming_.push_back(block);
    if (!ends_volume(block)) return;
    if (coming_.front().first_b_scan == 0) retained_.swap(coming_);
    coming_.clear();
}

// Reconstructs the displayed B-scans first, in the current picture, and then all in order. New blocks take precedence.
void Session::reprocess() {
    if (retained_.empty()) return;
    const std::int64_t seen = looked_at_;
    const auto holds_it = [&](const Block& block) {
        return seen >= block.first_b_scan && seen < block.first_b_scan + block.b_scans;
    };
    const auto first = std::ranges::find_if(retained_, holds_it);
    if (first != retained_.end()) watched([&] { return sink_.rework(*first); });
    for (const Block& block : retained_) {
        if (queue_.stats().waiting > 0 || !watched([&] { return sink_.feed(block); })) return;
    }
    watched([this] { sink_.finish(); });
    const std::scoped_lock lock(mutex_);
    ++stats_.reprocessed_volumes;
}

bool Session::take_change(BlockSink::Moment moment) {
    bool is_taken = false;
    bool is_refused = true;
    survive([&] {
        is_taken = watched([&] { return sink_.take_change(moment); });
        is_refused = false;
    });
    if (is_taken || is_refused) expects_change_ = false;
    if (!is_taken) return false;
    const std::scoped_lock lock(mutex_);
    ++stats_.changes;
    return true;
}

}  // namespace echolux
