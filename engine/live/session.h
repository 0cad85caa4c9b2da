// The live system: one thread acquires, one reconstructs; pictures are drawn by whoever owns the screen. Recording gets
// every block, the display the newest volume. Settings change between blocks; when nothing new arrives, a changed
// setting works on the volume that came last (M. Sylwestrzak et al., JBO 17(10), 2012).
//
// Errors and drops travel as data: nothing that a source, a disk or a GPU does ends a session.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "engine/acquire/source.h"
#include "engine/live/arrivals.h"
#include "engine/live/block_sink.h"
#include "engine/live/display_queue.h"
#include "engine/live/latency.h"
#include "engine/live/overdue.h"
#include "engine/live/recent_rate.h"
#include "engine/live/recording.h"
#include "engine/live/threads.h"

namespace echolux {

struct SessionEvent {
    double time_s = 0;       // since the start
    bool is_trouble = true;  // and not just news
    std::string line;        // as Error::line()
    std::string topic{};     // a later line of the same topic takes the place of this one; empty: it stands alone
};

struct SessionStats {
    bool running = false;                   // it was started and has not been stopped
    bool ended = false;                     // the source has no more blocks
    double seconds = 0;                     // since the start
    ArrivalStats arrived;                   // from the source
    QueueStats queue;                       // to the display
    std::int64_t fed_blocks = 0;            // that were reconstructed
    std::int64_t fed_lines = 0;             // of them, repeats counted
    std::int64_t finished_volumes = 0;      // that were reconstructed whole
    std::int64_t dropped_volumes = 0;       // no slot was free, or a device was lost on the way
    std::int64_t failed_volumes = 0;        // reconstructing threw
    std::int64_t reprocessed_volumes = 0;   // worked on again with changed settings
    std::int64_t changes = 0;               // of settings that came into use
    std::int64_t reconnections = 0;         // of a source that failed
    double acquired_a_scans_per_s = 0;      // lately
    double processed_a_scans_per_s = 0;     // lately
    double load = 0;                        // share of the time until the last block was reconstructed that this took,
                                            // waiting for the GPU counted
    Latency waiting;                        // of a block, from its arrival until it is reconstructed
    Latency feeding;                        // of a block
    Latency shown;                          // of a volume, from the arrival of its last block until its first picture
    std::optional<RecorderStats> recorder;  // nothing: nothing is being recorded
};

// What sessions are made with. Tests put other threads, clocks and disks in their place.
struct SessionTools {
    Threads* threads = &real_threads();
    RecordingTools recording = RecordingTools::real();
};

class Session {
  public:
    // Both outlive the session. Blocks that the sink cannot take in time are left out, not waited for, unless the
    // source is to wait.
    Session(Source& source, BlockSink& sink, Overload overload = Overload::newest_wins, SessionTools tools = {});
    ~Session();  // stops
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // All stats but the recorder's start from zero. Ends by itself after this many volumes; 0: never. Throws what
    // starting the source throws.
    void start(std::int64_t volumes = 0);

    // Acquires nothing more; what has been acquired is still reconstructed, also with settings that change later.
    void stop() noexcept;

    // From any thread. The spec keeps the source's format and geometry. Throws Error{bad_setting} for what cannot work.
    void change(const ReconstructionSpec& spec);

    // All blocks from the next volume on. Throws Error{bad_setting, output}.
    void record(RecordingWanted wanted);
    // Where no block was recorded, no file is left.
    RecorderStats stop_recording();

    // The B-scan position on the screen: reprocessed before the others when a setting changes at rest.
    void look_at(std::int64_t b_scan) { looked_at_ = b_scan; }

    // A picture that shows `volume` is finished.
    void shown(std::int64_t volume);

    // Waits until all that was acquired is reconstructed or left out, at most `patience`. False: it took longer.
    bool drain(std::chrono::milliseconds patience);

    SessionStats stats() const;

    // The newest block that came, shared with whoever works on it besides; nothing: none yet, it lies on a GPU, or the
    // source has no memory to spare.
    std::optional<Block> newest_block() const;

    // What happened since the last call, or has not happened for long: a source that sends nothing, a block that is not
    // reconstructed. The oldest events are dropped when they are never asked for.
    std::vector<SessionEvent> take_events();

  private:
    using Clock = std::chrono::steady_clock;

    // What a source counts from zero at each start goes on where it was when it comes back.
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

    void process(const std::stop_token& stop);
    void feed(const Block& block);
    bool try_feed(const Block& block);
    void retain(const Block& block);
    bool is_between_volumes() const;
    void look_around();
    void reprocess();
    bool take_change(BlockSink::Moment moment);

    template <class Work>
    void survive(const Work& work);
    template <class Work>
    auto watched(const Work& work);
    void begin_sink_call();
    void end_sink_call();
    void listen();
    void note_overdue();
    static double seconds_between(Clock::time_point from, Clock::time_point to) {
        return std::chrono::duration<double>(to - from).count();
    }
    std::int64_t lines_of(const Block& block) const;
    bool ends_volume(const Block& block) const { return block.first_b_scan + block.b_scans == b_scans_; }
    void report(const std::string& line, bool is_trouble = true, const std::string& topic = "");
    void note(const std::string& line, bool is_trouble, const std::string& topic);
    double seconds() const;

    Source& source_;
    BlockSink& sink_;
    const SessionTools tools_;
    Threads& threads_;
    const std::int64_t b_scans_;  // of a volume
    const bool retains_;          // the source has memory for it
    const std::chrono::duration<double> longest_silence_;
    DisplayQueue queue_;
    std::atomic<bool> expects_change_ = false;  // a plan is being made ready
    std::atomic<std::int64_t> looked_at_ = 0;   // B-scan position
    Numbering next_;                            // of the block after the last one; of the thread that acquires

    Recording recording_;

    mutable std::mutex mutex_;  // of what follows
    Clock::time_point start_ = threads_.now();
    std::optional<Clock::time_point> end_;
    SessionStats stats_;
    Overdue block_;      // from the source
    Overdue sink_call_;  // that is to come back
    std::optional<Block> newest_;
    std::deque<SessionEvent> events_;
    std::map<std::string, Clock::time_point> said_;                  // lately
    std::deque<std::pair<std::int64_t, Clock::time_point>> unseen_;  // volumes, and when their last block arrived
    mutable RecentRate acquired_, processed_;                        // A-scans
    double busy_s_ = 0;                                              // reconstructing
    Clock::time_point worked_until_;                                 // also after the source has stopped

    // Of the thread that processes: what was fed of a volume, and of the last one that was fed whole.
    bool is_within_volume_ = false;
    Clock::time_point fed_at_{};
    bool is_given_up_ = false;  // the volume that is fed, and counted
    std::vector<Block> coming_;
    std::vector<Block> retained_;

    LiveThread acquiring_;
    LiveThread processing_;
};

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

}  // namespace echolux
