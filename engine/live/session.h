// The live system: one thread acquires, another reconstructs, and the owner of the screen draws the pictures. The
// recording gets every block, the display the newest volume. Settings change between blocks. When no data arrive, a
// changed setting is applied to the last volume (M. Sylwestrzak et al., JBO 17(10), 2012).
//
// Errors and drops are data: no failure of a source, a disk or a GPU ends a session.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "compute/plan/described.h"
#include "engine/acquire/source.h"
#include "engine/live/display_queue.h"
#include "engine/live/recorder.h"
#include "engine/live/threads.h"

namespace echolux {

// ---- Statistics of durations: a histogram with bins of 2 %, so that percentiles need constant memory however long a
// session runs. Not thread-safe.

class Latency {
  public:
    void add(double seconds);

    std::int64_t count() const { return count_; }
    double max_s() const { return max_s_; }

    // Returns the duration that at least this share of all, in [0, 1], did not exceed, accurate to 2 %; 0 without data.
    double percentile_s(double share) const;

  private:
    static constexpr double min_s = 1e-6;
    static constexpr double ratio = 1.02;
    static constexpr std::size_t bins = 1100;  // up to 2900 s

    std::array<std::int64_t, bins> counts_{};
    std::int64_t count_ = 0;
    double max_s_ = 0;
};
template <>
const std::vector<Stat<Latency>>& describe_stats<Latency>();

// ---- Tracks something that may be overdue: reports once when it takes too long, and once when it arrives.

class Overdue {
  public:
    using Clock = std::chrono::steady_clock;

    // Starts waiting. Continues an earlier wait that was reported as overdue.
    void wait(Clock::time_point now) {
        if (!is_reported_) since_ = now;
    }

    // Ends waiting. Returns the seconds waited if it was reported as overdue.
    std::optional<double> end(Clock::time_point now) {
        const bool was_reported = is_reported_;
        const std::optional<double> seconds = waited_s(now);
        forget();
        return was_reported ? seconds : std::nullopt;
    }

    // Cancels waiting.
    void forget() {
        since_.reset();
        is_reported_ = false;
    }

    // Returns the seconds waited, once, when they exceed `longest`.
    std::optional<double> too_long(Clock::time_point now, std::chrono::duration<double> longest) {
        if (!since_ || is_reported_ || now - *since_ < longest) return {};
        is_reported_ = true;
        return waited_s(now);
    }

    // Returns the seconds since wait(); nullopt while not waiting.
    std::optional<double> waited_s(Clock::time_point now) const {
        if (!since_) return {};
        return std::chrono::duration<double>(now - *since_).count();
    }

  private:
    std::optional<Clock::time_point> since_;
    bool is_reported_ = false;
};

// ---- Rate per second, averaged over the last two seconds. Not thread-safe.

class RecentRate {
  public:
    using Clock = std::chrono::steady_clock;

    void add(std::int64_t amount, Clock::time_point now) {
        total_ += amount;
        totals_.emplace_back(now, total_);
        forget(now);
    }

    // Returns 0 if nothing came recently.
    double per_s(Clock::time_point now) {
        forget(now);
        if (totals_.size() < 2) return 0;
        const double over = std::chrono::duration<double>(now - totals_.front().first).count();
        return over > 0 ? static_cast<double>(total_ - totals_.front().second) / over : 0;
    }

  private:
    static constexpr std::chrono::seconds window{2};

    void forget(Clock::time_point now) {
        while (!totals_.empty() && now - totals_.front().first > window) totals_.pop_front();
    }

    std::deque<std::pair<Clock::time_point, std::int64_t>> totals_;
    std::int64_t total_ = 0;
};

// ---- The session.

struct LiveEvent {
    double time_s = 0;       // since the start
    bool is_problem = true;  // a problem, not just information
    std::string line;        // formatted as Error::line()
    std::string topic{};     // a later line of the same topic replaces this one; empty: no topic
};

struct LiveStats {
    bool running = false;                  // started and not stopped
    bool ended = false;                    // the source has no more blocks
    bool is_late = false;                  // no block for 1 s, or for the time of two blocks of a slow scan
    bool has_failed = false;               // the source failed and has not sent a block since
    double seconds = 0;                    // since the start
    ArrivalStats arrived;                  // from the source
    QueueStats queue;                      // blocks on their way to the display
    std::int64_t fed_blocks = 0;           // reconstructed
    std::int64_t fed_lines = 0;            // A-scans in these blocks, including repeats
    std::int64_t finished_volumes = 0;     // reconstructed completely
    std::int64_t dropped_volumes = 0;      // no slot was free, or a device was lost
    std::int64_t failed_volumes = 0;       // reconstruction failed
    std::int64_t reprocessed_volumes = 0;  // again, with changed settings
    std::int64_t changes = 0;              // activated changes of settings
    std::int64_t reconnections = 0;        // reconnections of a failed source
    double acquired_a_scans_per_s = 0;     // recently
    double processed_a_scans_per_s = 0;    // recently
    // Share of the time until the last reconstructed block that reconstruction took, including waits for the GPU.
    double load = 0;
    Latency waiting;                        // time of a block from arrival to reconstruction
    Latency feeding;                        // time to feed a block
    Latency shown;                          // time from the arrival of a volume's last block to its first picture
    std::optional<RecorderStats> recorder;  // nullopt if nothing is being recorded

    bool is_recording() const { return recorder.has_value(); }
    // Total of volumes that arrived but were not reconstructed.
    std::int64_t left_out_volumes() const {
        return queue.overtaken_volumes + queue.incomplete_volumes + dropped_volumes + failed_volumes;
    }
};
template <>
const std::vector<Stat<LiveStats>>& describe_stats<LiveStats>();

// Dependencies of sessions. Tests replace threads, clocks and disks.
struct SessionTools {
    Threads* threads = &real_threads();
    RecordingTools recording = RecordingTools::real();
};

// Owns the acquiring and the processing thread.
class Session {
  public:
    // `source` and `sink` must outlive the session. By default, blocks that the sink cannot process in time are
    // dropped; with Overload::source_waits the source waits for the sink.
    Session(Source& source, BlockSink& sink, Overload overload = Overload::newest_wins, SessionTools tools = {})
        : Session(source, &sink, overload, std::move(tools)) {}
    explicit Session(Source& source) : Session(source, nullptr, Overload::newest_wins, {}) {}  // without a sink
    ~Session();                                                                                // calls stop()
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Changes the sink without affecting acquisition or a recording, because a graphics device may be lost and
    // restored. Without a sink, volumes are dropped. Both wait until the current call of the sink has finished.
    void attach(BlockSink& sink) { turn_to(&sink); }
    void detach() { turn_to(nullptr); }

    // Starts the source and resets all stats except the recorder's. Ends after `volumes` volumes; 0: no limit. Throws
    // the errors of starting the source.
    void start(std::int64_t volumes = 0);

    // Stops acquiring. Blocks already acquired are still reconstructed, also with settings that change later.
    void stop() noexcept;

    // Changes the settings of the reconstruction. Callable from any thread. The spec must keep the source's format and
    // geometry. Throws Error{bad_setting} for an invalid spec.
    void change(const ReconstructionSpec& spec);

    // Records all blocks from the next volume on. Throws Error{bad_setting, output}.
    void record(RecordingRequest wanted);
    // Ends the recording. If no block was recorded, no file is left.
    RecorderStats stop_recording();

    // Sets the displayed B-scan position. It is reprocessed before the others if a setting changes while no data
    // arrive.
    void look_at(std::int64_t b_scan) { looked_at_ = b_scan; }

    // Reports that a picture of `volume` is finished.
    void shown(std::int64_t volume);

    // Waits until all acquired blocks are reconstructed or dropped. Returns false if this takes longer than `max`.
    bool drain(std::chrono::milliseconds timeout);

    LiveStats stats() const;

    // Returns the newest block, shared with its other users. nullopt if there is none yet, if it is in GPU memory, or
    // if the source has no memory to spare.
    std::optional<Block> newest_block() const;

    // Returns the events since the last call, including overdue ones: a silent source, a block whose reconstruction
    // does not end. If they are not fetched, the oldest events are dropped.
    std::vector<LiveEvent> take_events();

  private:
    using Clock = std::chrono::steady_clock;

    // Offsets of counters that a source restarts at zero, so that numbers continue after a reconnection.
    struct Numbering {
        std::uint64_t sequence = 0;
        std::int64_t volume = 0;
        double time_s = 0;
    };

    void acquire(const std::stop_token& stop, std::int64_t volumes);
    void acquire_from(const std::stop_token& stop, Arrivals& arrivals, const Numbering& base, std::int64_t volumes);
    Numbering reconnected(const std::stop_token& stop, const std::string& problem, bool waits);
    void take_in(const Block& block, const std::stop_token& stop);
    void note_arrival(const Block& block);

    enum class Outcome { failed, dropped, fed };  // of a block

    Session(Source& source, BlockSink* sink, Overload overload, SessionTools tools);
    void turn_to(BlockSink* sink);
    void process(const std::stop_token& stop);
    void note_outcome(const Block& block, Clock::time_point begun, Outcome outcome);
    void retain(const Block& block);
    bool is_between_volumes() const;
    void do_idle_work();
    void reprocess();
    bool take_change(BlockSink::SwapPoint swap_point);

    class SinkCall;
    void listen();
    void note_overdue();
    static double seconds_between(Clock::time_point from, Clock::time_point to) {
        return std::chrono::duration<double>(to - from).count();
    }
    std::int64_t lines_of(const Block& block) const;
    bool ends_volume(const Block& block) const { return block.first_b_scan + block.b_scans == b_scans_; }
    void report(const std::string& line, bool is_problem = true, const std::string& topic = "");
    void note(const std::string& line, bool is_problem, const std::string& topic);
    double seconds() const;

    Source& source_;
    std::shared_mutex turning_;  // held exclusively to change the sink
    BlockSink* sink_;            // may be null
    const SessionTools tools_;
    Threads& threads_;
    const std::int64_t b_scans_;  // per volume
    const bool retains_;          // whether the source has memory for retained blocks
    const std::chrono::duration<double> late_after_, longest_silence_;
    DisplayQueue queue_;
    std::atomic<bool> expects_change_ = false;  // a plan is being prepared
    std::atomic<std::int64_t> looked_at_ = 0;   // B-scan position
    Numbering next_;                            // numbers of the next block; used by the acquiring thread

    Recording recording_;

    mutable std::mutex mutex_;  // guards the members below
    Clock::time_point start_ = threads_.now();
    std::optional<Clock::time_point> end_;
    LiveStats stats_;
    Overdue block_;      // from the source
    Overdue sink_call_;  // in progress
    std::optional<Block> newest_;
    std::deque<LiveEvent> events_;
    std::map<std::string, Clock::time_point> reported_at_;           // recently reported lines
    std::deque<std::pair<std::int64_t, Clock::time_point>> unseen_;  // volumes, and the arrival of their last block
    mutable RecentRate acquired_, processed_;                        // A-scans
    double busy_s_ = 0;                                              // spent reconstructing
    Clock::time_point worked_until_;                                 // also after the source has stopped

    // Used by the processing thread: the fed blocks of the current volume, and of the last complete one.
    bool is_within_volume_ = false;
    Clock::time_point fed_at_{};
    bool is_abandoned_ = false;  // the current volume was abandoned, and counted
    std::vector<Block> coming_;
    std::vector<Block> retained_;

    LiveThread acquiring_;
    LiveThread processing_;
};

}  // namespace echolux
