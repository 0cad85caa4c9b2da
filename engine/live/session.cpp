#include "engine/live/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>

#include "compute/validate.h"
#include "engine/acquire/block_size.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 100ms;         // of a thread that waits for blocks, until it looks around
constexpr auto idle_patience = 5ms;      // the same while a changed setting is being made ready
constexpr auto reconnect_after = 500ms;  // until a source that failed is started again
constexpr auto healthy_after = 2s;       // a start is said to have worked
constexpr auto stalled_after = 1s;       // a volume that is fed in part is no longer waited for
constexpr auto said_again_after = 5s;    // the same line
constexpr std::size_t max_events = 200;
constexpr std::size_t max_unseen = 256;  // volumes whose latency is still open

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

template <class S>
bool is_same(const S& a, const S& b) {
    return std::ranges::all_of(describe<S>(), [&](const Field<S>& field) { return field.get(a) == field.get(b); });
}

// A pool of fewer blocks would be held by what is kept, and nothing could arrive any more.
bool has_memory_to_retain(const Source& source) {
    const std::int64_t blocks = (source.scan().geometry.b_scans + source.block_b_scans() - 1) / source.block_b_scans();
    return source.pool_blocks() == 0 || source.pool_blocks() >= volumes_in_use * blocks;
}

}  // namespace

// Nothing that others throw ends a thread.
template <class Work>
void Session::survive(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        report(error.line());
    } catch (const std::exception& error) {
        report(error.what());
    }
}

Session::Session(Source& source, BlockSink& sink, Overload overload)
    : source_(source), sink_(sink), b_scans_(source.scan().geometry.b_scans), retains_(has_memory_to_retain(source)),
      queue_(b_scans_, overload), processing_([this](const std::stop_token& stop) { process(stop); }) {}

Session::~Session() {
    stop();
    processing_.request_stop();
    queue_.close();
    processing_.join();
    recording_.end();
}

void Session::start(std::int64_t volumes) {
    stop();
    queue_.clear();
    next_ = {};
    source_.start();
    {
        const std::scoped_lock lock(mutex_);
        stats_ = {};
        stats_.running = true;
        unseen_.clear();
        acquired_ = processed_ = {};
        busy_s_ = 0;
        start_ = worked_until_ = Clock::now();
        end_.reset();
    }
    acquiring_ = std::jthread([this, volumes](const std::stop_token& stop) { acquire(stop, volumes); });
}

void Session::stop() noexcept {
    acquiring_.request_stop();
    if (acquiring_.joinable()) acquiring_.join();
    source_.stop();
    const std::scoped_lock lock(mutex_);
    if (stats_.running) end_ = Clock::now();
    stats_.running = false;
}

// ---- the thread that acquires

void Session::acquire(const std::stop_token& stop, std::int64_t volumes) {
    Arrivals arrivals(source_.scan().spec(source_.block_b_scans()),
                      [this](const std::string& line, const std::string& topic) { report(line, true, topic); });
    Numbering base;
    while (!stop.stop_requested()) {
        const auto begun = Clock::now();
        std::string problem;
        try {
            return acquire_from(stop, arrivals, base, volumes);
        } catch (const Error& error) {
            problem = error.line();
        } catch (const std::exception& error) {
            problem = error.what();
        }
        base = reconnected(stop, problem, Clock::now() - begun < healthy_after);
    }
}

// Until the source ends or is stopped, or has sent so many volumes.
void Session::acquire_from(const std::stop_token& stop, Arrivals& arrivals, const Numbering& base,
                           std::int64_t volumes) {
    bool ended = false;
    while (!stop.stop_requested() && !ended) {
        Arrival arrival = source_.next(patience);
        Block& block = arrival.block;
        if (arrival.kind == Arrival::Kind::nothing_yet) continue;
        if (arrival.kind == Arrival::Kind::ended) {
            arrivals.note_lost(block.lost_before);
            recording_.note_lost(block.lost_before);
            ended = true;
        } else {
            block.arrived = Clock::now();
            block.sequence += base.sequence;
            block.volume += base.volume;
            block.time_s += base.time_s;
            const std::int64_t misshapen = arrivals.stats().misshapen;
            if (arrivals.admit(block))
                take_in(block, stop);
            else
                recording_.note_lost(arrivals.stats().misshapen - misshapen);
            ended = volumes > 0 && arrivals.stats().volumes >= volumes;
        }
        const std::scoped_lock lock(mutex_);
        stats_.arrived = arrivals.stats();
        stats_.ended = ended;
    }
}

// Tries until the source is back; `waits` first where it has failed just after its last start. Where new blocks go on.
Session::Numbering Session::reconnected(const std::stop_token& stop, const std::string& problem, bool waits) {
    report(problem);
    recording_.note_interruption();
    source_.stop();
    const auto since = Clock::now();
    std::mutex asleep;
    std::condition_variable_any woken;
    for (bool is_back = false; !is_back && !stop.stop_requested(); waits = true) {
        if (waits) {
            std::unique_lock lock(asleep);
            if (woken.wait_for(lock, stop, reconnect_after, [] { return false; }) || stop.stop_requested()) break;
        }
        survive([&] {
            source_.start();
            is_back = true;
            report(fmt::format("the source is back after {:.1f} s", seconds_between(since, Clock::now())), false);
            const std::scoped_lock lock(mutex_);
            ++stats_.reconnections;
        });
    }
    return {next_.sequence, next_.volume, next_.time_s + seconds_between(since, Clock::now())};
}

void Session::take_in(const Block& block, const std::stop_token& stop) {
    next_ = {block.sequence + 1, block.volume + 1, block.time_s};
    if (const std::optional<Error> problem = recording_.offer(block)) report(problem->line());
    note_arrival(block);
    queue_.push(block, stop);
}

void Session::note_arrival(const Block& block) {
    std::optional<Block> newest;
    if (retains_ && block.memory != MemoryKind::device) newest = block;
    const std::scoped_lock lock(mutex_);
    std::swap(newest_, newest);  // the one before is let go of outside the lock
    if (ends_volume(block)) {
        unseen_.emplace_back(block.volume, block.arrived);
        if (unseen_.size() > max_unseen) unseen_.pop_front();
    }
    acquired_.add(lines_of(block), block.arrived);
}

// ---- the thread that reconstructs

void Session::process(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const std::optional<Block> block = queue_.take(expects_change_ ? idle_patience : patience);
        survive([&] {
            if (block)
                feed(*block);
            else
                look_around();
        });
    }
}

// While nothing comes.
void Session::look_around() {
    if (!is_between_volumes()) return sink_.collect();
    is_within_volume_ = false;
    if (take_change(BlockSink::Moment::between_volumes))
        reprocess();
    else
        sink_.collect();
}

// Nothing is fed in part, or its rest will hardly come.
bool Session::is_between_volumes() const {
    if (!is_within_volume_ || Clock::now() - fed_at_ > stalled_after) return true;
    const std::scoped_lock lock(mutex_);
    return !stats_.running || stats_.ended;
}

void Session::feed(const Block& block) {
    take_change(block.first_b_scan == 0 ? BlockSink::Moment::between_volumes : BlockSink::Moment::within_volume);
    const auto begun = Clock::now();
    const bool was_fed = try_feed(block);
    fed_at_ = Clock::now();
    is_within_volume_ = was_fed && !ends_volume(block);
    const std::scoped_lock lock(mutex_);
    busy_s_ += seconds_between(std::max(begun, start_), fed_at_);
    worked_until_ = fed_at_;
    stats_.waiting.add(seconds_between(block.arrived, begun));
    stats_.feeding.add(seconds_between(begun, fed_at_));
    if (!was_fed) return;
    ++stats_.fed_blocks;
    stats_.fed_lines += lines_of(block);
    processed_.add(lines_of(block), fed_at_);
    if (ends_volume(block)) ++stats_.finished_volumes;
}

// False: the block's volume will not be finished.
bool Session::try_feed(const Block& block) {
    std::int64_t SessionStats::*counter = &SessionStats::failed_volumes;
    bool was_fed = false;
    if (block.first_b_scan == 0) is_given_up_ = false;
    survive([&] {
        was_fed = sink_.feed(block);
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

// The last whole volume is kept until the next one is whole, for settings that change when nothing comes any more.
void Session::retain(const Block& block) {
    if (!retains_) return;
    if (block.first_b_scan == 0) coming_.clear();
    coming_.push_back(block);
    if (!ends_volume(block)) return;
    if (coming_.front().first_b_scan == 0) retained_.swap(coming_);
    coming_.clear();
}

// First what is looked at, in the picture that is there; then all in order. What arrives meanwhile goes first.
void Session::reprocess() {
    if (retained_.empty()) return;
    const std::int64_t seen = looked_at_;
    const auto holds_it = [&](const Block& block) {
        return seen >= block.first_b_scan && seen < block.first_b_scan + block.b_scans;
    };
    const auto first = std::ranges::find_if(retained_, holds_it);
    if (first != retained_.end()) sink_.rework(*first);
    for (const Block& block : retained_) {
        if (queue_.stats().waiting > 0 || !sink_.feed(block)) return;
    }
    sink_.finish();
    const std::scoped_lock lock(mutex_);
    ++stats_.reprocessed_volumes;
}

bool Session::take_change(BlockSink::Moment moment) {
    bool is_taken = false;
    bool is_refused = true;
    survive([&] {
        is_taken = sink_.take_change(moment);
        is_refused = false;
    });
    if (is_taken || is_refused) expects_change_ = false;
    if (!is_taken) return false;
    const std::scoped_lock lock(mutex_);
    ++stats_.changes;
    return true;
}

std::int64_t Session::lines_of(const Block& block) const {
    const ScanGeometry& scan = source_.scan().geometry;
    return block.b_scans * scan.b_repeats * scan.lines_per_b_scan();
}

// ---- any thread

void Session::change(const ReconstructionSpec& spec) {
    const Scan& scan = source_.scan();
    if (!is_same(spec.format, scan.format) || !is_same(spec.geometry, scan.geometry)) {
        throw Error(ErrorCode::bad_setting, "format and geometry are set by the source", "scan", "reopen it");
    }
    validate(spec);
    expects_change_ = true;
    sink_.change(spec);
}

void Session::record(RecordingWanted wanted) {
    const std::string notice = recording_.begin(std::move(wanted));
    if (!notice.empty()) report(notice, false);
}

RecorderStats Session::stop_recording() {
    const std::optional<RecorderStats> stats = recording_.end();
    if (!stats) return {};
    if (stats->problem) report(stats->problem->line());
    if (stats->blocks == 0) report("no block was recorded: no file is left");
    return *stats;
}

void Session::shown(std::int64_t volume) {
    const auto now = Clock::now();
    const std::scoped_lock lock(mutex_);
    while (!unseen_.empty() && unseen_.front().first <= volume) {
        if (unseen_.front().first == volume) stats_.shown.add(seconds_between(unseen_.front().second, now));
        unseen_.pop_front();
    }
}

bool Session::drain(std::chrono::milliseconds max) {
    const auto until = Clock::now() + max;
    for (; !queue_.is_idle(); std::this_thread::sleep_for(1ms)) {
        if (Clock::now() > until) return false;
    }
    return true;
}

SessionStats Session::stats() const {
    SessionStats stats;
    {
        const std::scoped_lock lock(mutex_);
        stats = stats_;
        stats.seconds = seconds();
        const auto now = Clock::now();
        stats.acquired_a_scans_per_s = acquired_.per_s(now);
        stats.processed_a_scans_per_s = processed_.per_s(now);
        stats.load = busy_s_ / std::max({stats.seconds, seconds_between(start_, worked_until_), 1e-9});
    }
    stats.queue = queue_.stats();
    stats.recorder = recording_.stats();
    return stats;
}

std::optional<Block> Session::newest_block() const {
    const std::scoped_lock lock(mutex_);
    return newest_;
}

std::vector<SessionEvent> Session::take_events() {
    const std::scoped_lock lock(mutex_);
    const auto events = std::exchange(events_, {});
    return {events.begin(), events.end()};
}

void Session::report(const std::string& line, bool is_trouble, const std::string& topic) {
    const std::scoped_lock lock(mutex_);
    const auto now = Clock::now();
    std::erase_if(said_, [&](const auto& said) { return now - said.second > said_again_after; });
    if (said_.size() > max_events || !said_.emplace(line, now).second) return;
    events_.push_back({seconds(), is_trouble, line, topic});
    if (events_.size() > max_events) events_.pop_front();
}

double Session::seconds() const {
    return seconds_between(start_, end_.value_or(Clock::now()));
}

}  // namespace echolux
