#include "engine/live/session.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "compute/missing_voxels.h"
#include "compute/plan/describe.h"
#include "compute/plan/describe_stats.h"
#include "compute/reconstructor.h"
#include "engine/acquire/stream.h"

namespace echolux {

namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 100ms;      // time between checks of `stop` by the acquiring thread
constexpr auto reconnect_after = 500ms;    // until a failed source is started again
constexpr auto healthy_after = 2s;         // a start counts as successful
constexpr auto source_late_after = 1s;     // a source without data is displayed as late
constexpr auto source_silent_after = 5s;   // a source without data is reported as silent
constexpr auto stuck_after = 10s;          // a block whose reconstruction takes longer is reported
constexpr auto repeat_warning_after = 5s;  // repeats of the same line
constexpr std::size_t max_events = 200;
constexpr std::size_t max_unseen = 256;  // volumes whose latency is not known yet

// Returns `usual`, or the time of `blocks` blocks if that is longer. Slow scans may need several seconds per block.
std::chrono::duration<double> silence_of(const Source& source, std::chrono::duration<double> usual, double blocks) {
    const ScanGeometry& scan = source.scan().geometry;
    const std::int64_t frames = source.block_b_scans() * scan.b_repeats + scan.flyback_frames;
    if (!(scan.line_rate_hz > 0)) return usual;
    const double block_s = static_cast<double>(frames * scan.lines_per_frame()) / scan.line_rate_hz;
    return std::max(usual, std::chrono::duration<double>(blocks * block_s));
}

// Returns whether the pool has enough blocks. Retained blocks would use up a smaller pool, and nothing could arrive any
// more.
bool has_memory_to_retain(const Source& source) {
    const std::int64_t blocks = (source.scan().geometry.b_scans + source.block_b_scans() - 1) / source.block_b_scans();
    return source.pool_blocks() == 0 || source.pool_blocks() >= volumes_in_use * blocks;
}

// Returns a line about the exception that is being handled. Exceptions never terminate the session's threads.
std::string current_problem() {
    try {
        throw;
    } catch (const Error& error) {
        return error.line();
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

template <>
const std::vector<Stat<Latency>>& describe_stats<Latency>() {
    using S = Latency;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("count", &S::count, "", "durations measured"),
        statistic<S>(
            "median_s", [](const S& s) { return s.percentile_s(0.5); }, "s", "median"),
        statistic<S>(
            "p99_s", [](const S& s) { return s.percentile_s(0.99); }, "s", "99th percentile"),
        statistic<S>("max_s", &S::max_s, "s", "maximum"),
    });
    return all;
}

template <>
const std::vector<Stat<LiveStats>>& describe_stats<LiveStats>() {
    using S = LiveStats;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("running", &S::running, "", "started and not stopped"),
        statistic<S>("ended", &S::ended, "", "the source has no more blocks"),
        statistic<S>("recording", &S::is_recording, "", "blocks are being recorded"),
        statistic<S>("seconds", &S::seconds, "s", "since the start"),
        statistic<S>("acquired_a_scans_per_s", &S::acquired_a_scans_per_s, "A-scans/s", "current rate of the source"),
        statistic<S>("processed_a_scans_per_s", &S::processed_a_scans_per_s, "A-scans/s",
                     "current rate of the reconstruction"),
        part("arrived", &S::arrived),
        part("queue", &S::queue),
        statistic<S>("reconstructed.blocks", &S::fed_blocks, "blocks", "reconstructed"),
        statistic<S>("reconstructed.a_scans", &S::fed_lines, "A-scans", "in these blocks, including repeats"),
        statistic<S>("reconstructed.volumes", &S::finished_volumes, "volumes", "reconstructed completely")
            .in("Session", "reconstructed"),
        statistic<S>("reconstructed.left_out_volumes", &S::left_out_volumes, "volumes",
                     "overtaken, incomplete, dropped or failed"),
        statistic<S>("reconstructed.dropped_volumes", &S::dropped_volumes, "volumes",
                     "dropped: no buffer was free, or a device was lost")
            .in("Dropped", "buffer full"),
        statistic<S>("reconstructed.failed_volumes", &S::failed_volumes, "volumes", "whose reconstruction failed")
            .in("Dropped", "failed"),
        statistic<S>("reconstructed.again", &S::reprocessed_volumes, "volumes",
                     "reconstructed again, with changed settings")
            .in("Session", "reprocessed"),
        statistic<S>("reconstructed.changes", &S::changes, "times", "changes of settings")
            .in("Session", "settings changed"),
        statistic<S>("reconstructed.reconnections", &S::reconnections, "", "of a failed source")
            .in("Dropped", "reconnections"),
        statistic<S>("reconstructed.load", &S::load, "", "share of the time that reconstruction took"),
        part("latency.waiting", &S::waiting),
        part("latency.feeding", &S::feeding),
        part("latency.shown", &S::shown),
    });
    return all;
}

Session::Session(Source& source, BlockSink* sink, Overload overload, SessionTools tools)
    : source_(source), sink_(sink), tools_(std::move(tools)), threads_(*tools_.threads),
      b_scans_(source.scan().geometry.b_scans), retains_(has_memory_to_retain(source)),
      late_after_(silence_of(source, source_late_after, 2)),
      longest_silence_(silence_of(source, source_silent_after, 3)), queue_(b_scans_, overload, threads_),
      processing_(threads_.start([this](const std::stop_token& stop) { process(stop); })) {}

Session::~Session() {
    stop();
    recording_.end();  // before a wait that may never end
    processing_.request_stop();
    queue_.close();
    processing_.join();
}

void Session::start(std::int64_t volumes) {
    stop();
    source_.start();  // may take long; the stats of the last run remain until then
    queue_.clear();
    next_ = {};
    {
        const std::scoped_lock lock(mutex_);
        stats_ = {};
        stats_.running = true;
        unseen_.clear();
        acquired_ = processed_ = {};
        busy_s_ = 0;
        start_ = worked_until_ = threads_.now();
        end_.reset();
        if (!source_.capabilities().sends_when_asked) block_.wait(start_);
    }
    acquiring_ = threads_.start([this, volumes](const std::stop_token& stop) { acquire(stop, volumes); });
}

void Session::stop() noexcept {
    acquiring_.request_stop();
    acquiring_.join();
    source_.stop();
    const std::scoped_lock lock(mutex_);
    if (stats_.running) end_ = threads_.now();
    stats_.running = false;
    block_.forget();
}

// ---- the thread that acquires

void Session::acquire(const std::stop_token& stop, std::int64_t volumes) {
    Arrivals arrivals(source_.scan().spec(source_.block_b_scans()),
                      [this](const std::string& line, const std::string& topic) { report(line, true, topic); });
    Numbering base;
    while (!stop.stop_requested()) {
        const auto begun = threads_.now();
        std::string problem;
        try {
            return acquire_from(stop, arrivals, base, volumes);
        } catch (...) {
            problem = current_problem();
        }
        base = reconnected(stop, problem, threads_.now() - begun < healthy_after);
    }
}

// Starts waiting for the next block.
void Session::listen() {
    const std::scoped_lock lock(mutex_);
    if (!source_.capabilities().sends_when_asked) block_.wait(threads_.now());
}

// Acquires until the source ends or is stopped, or has sent `volumes` volumes.
void Session::acquire_from(const std::stop_token& stop, Arrivals& arrivals, const Numbering& base,
                           std::int64_t volumes) {
    bool ended = false;
    listen();
    while (!stop.stop_requested() && !ended) {
        Arrival arrival = source_.next(poll_interval);
        Block& block = arrival.block;
        if (arrival.kind == Arrival::Kind::nothing_yet) continue;
        if (arrival.kind == Arrival::Kind::ended) {
            arrivals.note_lost(block.lost_before);
            recording_.note_lost(block.lost_before);
            ended = true;
        } else {
            block.arrived = threads_.now();
            block.sequence += base.sequence;
            block.volume += base.volume;
            block.time_s += base.time_s;
            const std::int64_t misshapen = arrivals.stats().misshapen_blocks;
            if (arrivals.admit(block))
                take_in(block, stop);
            else
                recording_.note_lost(arrivals.stats().misshapen_blocks - misshapen);
            listen();
            ended = volumes > 0 && arrivals.stats().volumes >= volumes;
        }
        const std::scoped_lock lock(mutex_);
        stats_.arrived = arrivals.stats();
        stats_.ended = ended;
        if (ended) block_.forget();
    }
}

// Tries until the source is back, and returns the offsets of new blocks. `waits` before the first attempt if the source
// failed right after its last start.
Session::Numbering Session::reconnected(const std::stop_token& stop, const std::string& problem, bool waits) {
    report(problem);
    recording_.note_interruption();
    {
        const std::scoped_lock lock(mutex_);
        block_.forget();
        stats_.has_failed = true;
    }
    source_.stop();
    const auto since = threads_.now();
    for (bool is_back = false; !is_back && !stop.stop_requested(); waits = true) {
        if (waits && !threads_.sleep(reconnect_after, stop)) break;
        try {
            source_.start();
        } catch (...) {
            report(current_problem());
            continue;
        }
        is_back = true;
        report(fmt::format("the source resumed after {:.1f} s", seconds_between(since, threads_.now())), false);
        const std::scoped_lock lock(mutex_);
        ++stats_.reconnections;
    }
    return {next_.sequence, next_.volume, next_.time_s + seconds_between(since, threads_.now())};
}

void Session::take_in(const Block& block, const std::stop_token& stop) {
    next_ = {block.sequence + 1, block.volume + 1, block.time_s};
    {
        const std::scoped_lock lock(mutex_);
        if (const auto lasted = block_.end(threads_.now()))
            note(fmt::format("blocks arrive again after {:.0f} s", *lasted), false, "silence");
        stats_.has_failed = false;
    }
    if (const std::optional<Error> problem = recording_.offer(block)) report(problem->line());
    note_arrival(block);
    queue_.push(block, stop);
}

void Session::note_arrival(const Block& block) {
    std::optional<Block> newest;
    if (retains_ && block.memory != MemoryKind::device && !is_missing(block)) newest = block;
    const std::scoped_lock lock(mutex_);
    if (!is_missing(block)) std::swap(newest_, newest);  // release the previous block without the lock
    if (ends_volume(block)) {
        unseen_.emplace_back(block.volume, block.arrived);
        if (unseen_.size() > max_unseen) unseen_.pop_front();
    }
    acquired_.add(lines_of(block), block.arrived);
}

// ---- any thread

std::int64_t Session::lines_of(const Block& block) const {
    const ScanGeometry& scan = source_.scan().geometry;
    return block.b_scans * scan.b_repeats * scan.lines_per_b_scan();
}

void Session::change(const ReconstructionSpec& spec) {
    const Scan& scan = source_.scan();
    if (!has_same_settings(spec.format, scan.format) || !has_same_settings(spec.geometry, scan.geometry)) {
        throw Error(ErrorCode::bad_setting, "format and geometry are set by the source", "scan", "reopen it");
    }
    validate(spec);
    expects_change_ = true;
    const std::shared_lock attached(turning_);
    if (sink_ != nullptr) sink_->change(spec);
}

void Session::turn_to(BlockSink* sink) {
    const std::unique_lock lock(turning_);
    sink_ = sink;
}

void Session::record(RecordingRequest wanted) {
    const std::string notice = recording_.begin(std::move(wanted), tools_.recording);
    if (!notice.empty()) report(notice, false);
}

RecorderStats Session::stop_recording() {
    const std::optional<RecorderStats> stats = recording_.end();
    if (!stats) return {};
    if (stats->problem) report(stats->problem->line());
    if (stats->blocks == 0) report("no block was recorded: no file was kept");
    if (!stats->stripes_left.empty()) report(stats->stripes_left, false);
    return *stats;
}

void Session::shown(std::int64_t volume) {
    const auto now = threads_.now();
    const std::scoped_lock lock(mutex_);
    while (!unseen_.empty() && unseen_.front().first <= volume) {
        if (unseen_.front().first == volume) stats_.shown.add(seconds_between(unseen_.front().second, now));
        unseen_.pop_front();
    }
}

bool Session::drain(std::chrono::milliseconds max) {
    const auto until = threads_.now() + max;
    for (; !queue_.is_idle(); threads_.sleep(1ms)) {
        if (threads_.now() > until) return false;
    }
    return true;
}

LiveStats Session::stats() const {
    LiveStats stats;
    {
        const std::scoped_lock lock(mutex_);
        stats = stats_;
        stats.seconds = seconds();
        const auto now = threads_.now();
        stats.acquired_a_scans_per_s = acquired_.per_s(now);
        stats.processed_a_scans_per_s = processed_.per_s(now);
        stats.is_late = block_.waited_s(now) > late_after_.count();
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

void Session::note_overdue() {
    if (const auto lasts = block_.too_long(threads_.now(), longest_silence_)) {
        note(fmt::format("no data from the source for {:.0f} s: check the trigger and the cable", *lasts), true,
             "silence");
    }
    if (const auto lasts = sink_call_.too_long(threads_.now(), stuck_after)) {
        note(fmt::format("reconstructing a block has taken {:.0f} s so far: if it does not finish, the GPU hangs: "
                         "restart the program; recording continues",
                         *lasts),
             true, "stuck");
    }
}

std::vector<LiveEvent> Session::take_events() {
    std::vector<BlockSink::SinkMessage> news;
    // The caller may be the drawing thread, which does not wait while the sink changes.
    if (const std::shared_lock attached(turning_, std::try_to_lock); attached && sink_ != nullptr)
        news = sink_->take_messages();
    const std::scoped_lock lock(mutex_);
    for (const BlockSink::SinkMessage& one : news) note(one.line, one.is_problem, one.topic);
    note_overdue();
    const auto events = std::exchange(events_, {});
    return {events.begin(), events.end()};
}

void Session::report(const std::string& line, bool is_problem, const std::string& topic) {
    const std::scoped_lock lock(mutex_);
    note(line, is_problem, topic);
}

void Session::note(const std::string& line, bool is_problem, const std::string& topic) {
    const auto now = threads_.now();
    std::erase_if(reported_at_, [&](const auto& entry) { return now - entry.second > repeat_warning_after; });
    if (reported_at_.size() > max_events || !reported_at_.emplace(line, now).second) return;
    events_.push_back({seconds(), is_problem, line, topic});
    if (events_.size() > max_events) events_.pop_front();
}

double Session::seconds() const {
    return seconds_between(start_, end_.value_or(threads_.now()));
}

// ---- The reconstructing thread of a session.

constexpr auto idle_work_after = 100ms;   // without a block
constexpr auto idle_poll_interval = 5ms;  // while a changed setting is being prepared
constexpr auto stalled_after = 1s;        // a partly fed volume is no longer expected to continue

// A call of the sink, which stays attached until it ends. A call that takes too long is reported as stuck.
class Session::SinkCall {
  public:
    explicit SinkCall(Session& session) : session_(session), attached_(session.turning_) {
        const std::scoped_lock lock(session_.mutex_);
        session_.sink_call_.wait(session_.threads_.now());
    }
    ~SinkCall() {
        const std::scoped_lock lock(session_.mutex_);
        if (const auto lasted = session_.sink_call_.end(session_.threads_.now()))
            session_.note(fmt::format("reconstruction continues after {:.0f} s", *lasted), false, "stuck");
    }
    SinkCall(const SinkCall&) = delete;
    SinkCall& operator=(const SinkCall&) = delete;

    explicit operator bool() const { return session_.sink_ != nullptr; }
    BlockSink* operator->() const { return session_.sink_; }

  private:
    Session& session_;
    std::shared_lock<std::shared_mutex> attached_;
};

void Session::process(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const std::optional<Block> block = queue_.take(expects_change_ ? idle_poll_interval : idle_work_after);
        if (block)
            take_change(block->first_b_scan == 0 ? BlockSink::SwapPoint::between_volumes
                                                 : BlockSink::SwapPoint::within_volume);
        const auto begun = threads_.now();
        Outcome outcome = Outcome::failed;
        try {
            if (!block)
                do_idle_work();
            else if (const SinkCall sink(*this); sink && sink->feed(*block))
                outcome = Outcome::fed;
            else
                outcome = Outcome::dropped;
        } catch (...) {
            report(current_problem());
        }
        if (block) note_outcome(*block, begun, outcome);
    }
}

// Work while no blocks arrive.
void Session::do_idle_work() {
    if (is_between_volumes()) {
        is_within_volume_ = false;
        if (take_change(BlockSink::SwapPoint::between_volumes)) return reprocess();
    }
    if (const SinkCall sink(*this); sink) sink->collect();
}

// Returns true if no volume is partly fed, or if the rest is not expected to come.
bool Session::is_between_volumes() const {
    if (!is_within_volume_ || threads_.now() - fed_at_ > stalled_after) return true;
    const std::scoped_lock lock(mutex_);
    return !stats_.running || stats_.ended;
}

// The volume of a block that was not fed will not be finished, and is counted once.
void Session::note_outcome(const Block& block, Clock::time_point begun, Outcome outcome) {
    const bool was_fed = outcome == Outcome::fed;
    if (was_fed)
        retain(block);
    else
        coming_.clear();
    if (outcome == Outcome::failed) queue_.abandon_current();
    if (block.first_b_scan == 0) is_abandoned_ = false;
    fed_at_ = threads_.now();
    is_within_volume_ = was_fed && !ends_volume(block);
    const std::scoped_lock lock(mutex_);
    if (!was_fed && !std::exchange(is_abandoned_, true))
        ++(outcome == Outcome::failed ? stats_.failed_volumes : stats_.dropped_volumes);
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
    if (const auto first = std::ranges::find_if(retained_, holds_it); first != retained_.end()) {
        if (const SinkCall sink(*this); sink) sink->reprocess(*first);
    }
    for (const Block& block : retained_) {
        if (queue_.stats().waiting_blocks > 0) return;
        if (const SinkCall sink(*this); !sink || !sink->feed(block)) return;
    }
    if (const SinkCall sink(*this); sink) sink->finish();
    const std::scoped_lock lock(mutex_);
    ++stats_.reprocessed_volumes;
}

// After an invalid change, blocks are reconstructed with the settings in use.
bool Session::take_change(BlockSink::SwapPoint swap_point) {
    bool is_taken = false;
    try {
        const SinkCall sink(*this);
        is_taken = sink && sink->take_change(swap_point);
        if (!is_taken) return false;
    } catch (...) {
        report(current_problem());
    }
    expects_change_ = false;
    if (!is_taken) return false;
    const std::scoped_lock lock(mutex_);
    ++stats_.changes;
    return true;
}

void Latency::add(double seconds) {
    const double bin = std::log(std::max(seconds, min_s) / min_s) / std::log(ratio);
    ++counts_[std::min(static_cast<std::size_t>(bin), bins - 1)];
    ++count_;
    max_s_ = std::max(max_s_, seconds);
}

double Latency::percentile_s(double share) const {
    const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)));
    if (count_ == 0 || wanted <= 0) return 0;
    std::int64_t seen = 0;
    for (std::size_t i = 0; i + 1 < bins; ++i) {
        seen += counts_[i];
        if (seen >= wanted) return std::min(min_s * std::pow(ratio, static_cast<double>(i + 1)), max_s_);
    }
    return max_s_;
}

}  // namespace echolux
