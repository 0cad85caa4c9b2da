#include "engine/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "compute/validate.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 100ms;         // of a thread that waits for blocks, until it looks around
constexpr auto idle_patience = 5ms;      // the same while a changed setting is being made ready
constexpr auto reconnect_after = 500ms;  // until a source that failed is started again
constexpr std::size_t most_events = 200;
constexpr std::size_t most_unseen = 256;  // volumes whose latency is still open

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Session::Session(Source& source, BlockSink& sink)
    : source_(source), sink_(sink), b_scans_(source.scan().geometry.b_scans), queue_(b_scans_),
      processing_([this](const std::stop_token& stop) { process(stop); }) {}

Session::~Session() {
    stop();
    processing_.request_stop();
    queue_.close();
    processing_.join();
    const std::scoped_lock lock(recording_);
    recorder_.reset();
}

void Session::start() {
    stop();
    {
        const std::scoped_lock lock(mutex_);
        figures_ = {};
        figures_.running = true;
        unseen_.clear();
        acquired_ = processed_ = {};
        busy_s_ = 0;
        start_ = Clock::now();
    }
    queue_.clear();
    next_ = {};
    source_.start();
    acquiring_ = std::jthread([this](const std::stop_token& stop) { acquire(stop); });
}

void Session::stop() noexcept {
    acquiring_.request_stop();
    if (acquiring_.joinable()) acquiring_.join();
    source_.stop();
    const std::scoped_lock lock(mutex_);
    figures_.running = false;
}

// ---- the thread that acquires

void Session::acquire(const std::stop_token& stop) {
    Arrivals arrivals(source_.scan().plan(source_.block_b_scans()), [this](const std::string& line) { report(line); });
    Numbering base;
    while (!stop.stop_requested()) {
        try {
            return acquire_from(stop, arrivals, base);
        } catch (const Error& error) {
            base = reconnected(stop, error.line());
        } catch (const std::exception& error) {
            base = reconnected(stop, error.what());
        }
    }
}

// Until the source ends or is stopped.
void Session::acquire_from(const std::stop_token& stop, Arrivals& arrivals, const Numbering& base) {
    while (!stop.stop_requested()) {
        Arrival arrival = source_.next(patience);
        if (arrival.kind == Arrival::Kind::ended) {
            arrivals.note_lost(arrival.block.lost_before);
            const std::scoped_lock lock(mutex_);
            figures_.arrived = arrivals.figures();
            figures_.ended = true;
            return;
        }
        if (arrival.kind == Arrival::Kind::nothing_yet) continue;
        Block& block = arrival.block;
        block.arrived = Clock::now();
        block.sequence += base.sequence;
        block.volume += base.volume;
        block.time_s += base.time_s;
        if (arrivals.admit(block)) take_in(block);
        const std::scoped_lock lock(mutex_);
        figures_.arrived = arrivals.figures();
    }
}

// Tries until the source is back. Where its new blocks go on.
Session::Numbering Session::reconnected(const std::stop_token& stop, const std::string& problem) {
    report(problem);
    source_.stop();
    const auto since = Clock::now();
    std::mutex asleep;
    std::condition_variable_any woken;
    while (!stop.stop_requested()) {
        try {
            source_.start();
            report(fmt::format("the source is back after {:.1f} s", seconds_between(since, Clock::now())), false);
            const std::scoped_lock lock(mutex_);
            ++figures_.reconnections;
            break;
        } catch (const Error& error) {
            if (error.line() != problem) report(error.line());
        }
        std::unique_lock lock(asleep);
        woken.wait_for(lock, stop, reconnect_after, [] { return false; });
    }
    return {next_.sequence, next_.volume, next_.time_s + seconds_between(since, Clock::now())};
}

void Session::take_in(const Block& block) {
    next_ = {block.sequence + 1, block.volume + 1, block.time_s};
    {
        const std::scoped_lock lock(recording_);
        if (recorder_ && !recorder_->offer(block)) report_recorder(*recorder_);
    }
    note_arrival(block);
    queue_.push(block);
}

void Session::note_arrival(const Block& block) {
    const std::scoped_lock lock(mutex_);
    if (block.first_b_scan + block.b_scans == b_scans_) {
        unseen_.emplace_back(block.volume, block.arrived);
        if (unseen_.size() > most_unseen) unseen_.pop_front();
    }
    acquired_.add(lines_of(block), block.arrived);
}

// ---- the thread that reconstructs

void Session::process(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const std::optional<Block> block = queue_.take(expects_change_ ? idle_patience : patience);
        {
            const std::scoped_lock lock(mutex_);
            is_busy_ = block.has_value();
            if (!is_busy_) idle_.notify_all();
        }
        if (block) {
            feed(*block);
        } else if (take_change(BlockSink::Moment::between_volumes)) {
            reprocess();
        } else {
            sink_.collect();
        }
    }
}

void Session::feed(const Block& block) {
    take_change(block.first_b_scan == 0 ? BlockSink::Moment::between_volumes : BlockSink::Moment::within_volume);
    const auto begun = Clock::now();
    const bool was_fed = fed(block);
    const auto ended = Clock::now();
    const std::scoped_lock lock(mutex_);
    busy_s_ += seconds_between(begun, ended);
    figures_.waiting.add(seconds_between(block.arrived, begun));
    figures_.feeding.add(seconds_between(begun, ended));
    if (!was_fed) {
        if (block.first_b_scan == 0) ++figures_.dropped_volumes;
        return;
    }
    ++figures_.fed_blocks;
    figures_.fed_lines += lines_of(block);
    processed_.add(lines_of(block), ended);
    if (block.first_b_scan + block.b_scans == b_scans_) ++figures_.finished_volumes;
}

// False: the block's volume will not be finished.
bool Session::fed(const Block& block) {
    try {
        retain(block);
        return sink_.feed(block);
    } catch (const Error& error) {
        report(error.line());
    } catch (const std::exception& error) {
        report(error.what());
    }
    queue_.give_up_current();
    const std::scoped_lock lock(mutex_);
    ++figures_.failed_blocks;
    return false;
}

// The last whole volume is kept until the next one is whole, for settings that change when nothing comes any more.
void Session::retain(const Block& block) {
    if (block.first_b_scan == 0) coming_.clear();
    coming_.push_back(block);
    if (block.first_b_scan + block.b_scans < b_scans_) return;
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
    try {
        const auto first = std::ranges::find_if(retained_, holds_it);
        if (first != retained_.end()) sink_.rework(*first);
        for (const Block& block : retained_) {
            if (queue_.figures().waiting > 0 || !sink_.feed(block)) return;
        }
        sink_.finish();
    } catch (const Error& error) {
        return report(error.line());
    }
    const std::scoped_lock lock(mutex_);
    ++figures_.reprocessed_volumes;
}

bool Session::take_change(BlockSink::Moment moment) {
    try {
        if (!sink_.take_change(moment)) return false;
    } catch (const Error& error) {
        expects_change_ = false;
        report(error.line());
        return false;
    }
    expects_change_ = false;
    const std::scoped_lock lock(mutex_);
    ++figures_.changes;
    return true;
}

std::int64_t Session::lines_of(const Block& block) const {
    const ScanGeometry& scan = source_.scan().geometry;
    return block.b_scans * scan.b_repeats * scan.lines_per_b_scan();
}

// ---- any thread

void Session::change(const ReconstructionPlan& plan) {
    validate(plan);
    sink_.change(plan);
    expects_change_ = true;
}

void Session::record(RecordingWanted wanted) {
    auto recorder = std::make_unique<Recorder>(std::move(wanted));
    const std::scoped_lock lock(recording_);
    if (recorder_) throw Error(ErrorCode::bad_setting, "a recording is under way already", "record", "stop it first");
    recorder_ = std::move(recorder);
}

RecorderFigures Session::stop_recording() {
    std::unique_ptr<Recorder> ending;
    {
        const std::scoped_lock lock(recording_);
        ending = std::move(recorder_);
    }
    if (!ending) return {};
    ending->finish();
    report_recorder(*ending);
    return ending->figures();
}

void Session::shown(std::int64_t volume) {
    const auto now = Clock::now();
    const std::scoped_lock lock(mutex_);
    while (!unseen_.empty() && unseen_.front().first <= volume) {
        if (unseen_.front().first == volume) figures_.shown.add(seconds_between(unseen_.front().second, now));
        unseen_.pop_front();
    }
}

bool Session::drain(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return idle_.wait_for(lock, most, [this] { return !is_busy_ && queue_.figures().waiting == 0; });
}

SessionFigures Session::figures() const {
    SessionFigures figures;
    {
        const std::scoped_lock lock(mutex_);
        figures = figures_;
        figures.seconds = seconds();
        const auto now = Clock::now();
        figures.acquired_a_scans_per_s = acquired_.per_s(now);
        figures.processed_a_scans_per_s = processed_.per_s(now);
        figures.load = busy_s_ / std::max(figures.seconds, 1e-9);
    }
    figures.queue = queue_.figures();
    return figures;
}

void Session::report_recorder(const Recorder& recorder) {
    if (const std::optional<Error> problem = recorder.problem()) report(problem->line());
}

std::vector<SessionEvent> Session::take_events() {
    const std::scoped_lock lock(mutex_);
    std::vector<SessionEvent> events(events_.begin(), events_.end());
    events_.clear();
    return events;
}

void Session::report(const std::string& line, bool is_trouble) {
    const std::scoped_lock lock(mutex_);
    if (!events_.empty() && events_.back().line == line) return;
    events_.push_back({seconds(), is_trouble, line});
    if (events_.size() > most_events) events_.pop_front();
}

double Session::seconds() const {
    return seconds_between(start_, Clock::now());
}

}  // namespace echolux
