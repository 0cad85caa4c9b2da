// The path of blocks from a source to the display: the check of arriving blocks, the queue, and the sink that
// reconstructs and displays them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "compute/plan/params.h"
#include "compute/voxel_target.h"
#include "engine/live/threads.h"

namespace echolux {

// ---- Checks the blocks of a source before anything else sees them, because sources are never trusted. Blocks of the
// wrong size, repeated blocks and blocks out of order are rejected. Clock jumps are noted. All of these are counted and
// occasionally reported.

// Counts since the source started.
struct ArrivalStats {
    std::int64_t blocks = 0;            // accepted
    std::int64_t lost_blocks = 0;       // reported as lost by the source, or missing in its sequence numbers
    std::int64_t repeated_blocks = 0;   // rejected because the number or the position in the volume came before
    std::int64_t misshapen_blocks = 0;  // rejected because they do not match the scan
    std::int64_t time_jumps = 0;        // time stamps that run backwards or jump
    std::int64_t volumes = 0;           // whose last block arrived
    std::int64_t a_scans = 0;
    std::int64_t bytes = 0;
};
template <>
const std::vector<Stat<ArrivalStats>>& describe_stats<ArrivalStats>();

// Filters the blocks of one source. Use from one thread.
class Arrivals {
  public:
    // Receives one line per topic ("lost", "repeated", "misshapen", "clock") when a problem first occurs, and again
    // each time its count gains a digit.
    using Report = std::function<void(const std::string& line, const std::string& topic)>;
    Arrivals(const ReconstructionSpec& spec, Report report);

    // Returns whether to use the block. Throws Error{device} if blocks continue from an earlier number, as after a
    // reset of the source's counter; the source must then be restarted.
    bool admit(const Block& block);

    // Adds blocks that were lost after the last one.
    void note_lost(std::int64_t blocks);

    const ArrivalStats& stats() const { return stats_; }

  private:
    // Checks the block against the spec, and reports a mismatch.
    bool has_right_shape(const Block& block);
    bool is_late(const Block& block) const;
    void exclude_late(const Block& block);
    std::int64_t place_of(const Block& block) const;
    void watch_clock(const Block& block, std::int64_t lost);
    void count(std::int64_t& of, std::int64_t by, const std::string& line, const std::string& topic);

    ReconstructionSpec spec_;
    Report report_;
    ArrivalStats stats_;
    std::uint64_t next_sequence_ = 0;
    std::int64_t next_place_ = 0;      // expected position, in B-scans since the beginning
    std::int64_t late_ = 0;            // number of late blocks in a row with ascending numbers
    std::uint64_t late_sequence_ = 0;  // sequence number of the last late block
    std::int64_t late_place_ = 0;
    double time_s_ = 0;   // time stamp of the last block
    double block_s_ = 0;  // expected duration of the last block at the line rate, 0 if unknown
};

// ---- Queue of blocks for the display. The newest volume wins: the volume in progress is finished, and of those that
// arrive in between only the newest is kept. This bounds the latency for any processing speed and the memory to two
// volumes. Every dropped block is counted with its reason.

// pushed = taken + waiting + overtaken + incomplete + given up, in blocks.
struct QueueStats {
    std::int64_t pushed_blocks = 0;
    std::int64_t taken_blocks = 0;
    std::int64_t overtaken_blocks = 0;   // a newer volume arrived before they were processed
    std::int64_t incomplete_blocks = 0;  // blocks of volumes with a missing block
    std::int64_t given_up_blocks = 0;    // blocks of volumes that the consumer could not finish
    std::int64_t overtaken_volumes = 0;
    std::int64_t incomplete_volumes = 0;
    std::int64_t waiting_blocks = 0;
    std::int64_t max_waiting_blocks = 0;
};
template <>
const std::vector<Stat<QueueStats>>& describe_stats<QueueStats>();

// Handling of a volume that was not started when the next one arrives.
enum class Overload {
    newest_wins,  // it is dropped
    source_waits  // push() blocks until it is started; for volumes that must all be processed
};

// Thread-safe for one pushing and one taking thread.
class DisplayQueue {
  public:
    // `b_scans` is the number per volume.
    explicit DisplayQueue(std::int64_t b_scans, Overload overload = Overload::newest_wins,
                          Threads& threads = real_threads())
        : b_scans_(b_scans), overload_(overload), threads_(threads) {}

    // Adds the block. Blocks of a volume must come in order; after a gap, the volume is incomplete and its later blocks
    // are dropped. With source_waits, the first block of a volume may block until `stop`, which drops the block.
    void push(Block block, const std::stop_token& stop = {});

    // Returns the next block of the current volume, then of the newest one. Returns nullopt after `timeout`, or when
    // the queue is closed.
    std::optional<Block> take(std::chrono::milliseconds timeout);

    // Drops the waiting blocks of the current volume, which will not be finished.
    void abandon_current();

    // close() wakes the consumer, and take() returns nothing from then on. clear() empties and reopens the queue.
    void close();
    void clear();

    // Returns whether nothing waits and the last block taken is done, which the consumer shows by calling take() again.
    bool is_idle() const;

    QueueStats stats() const;

  private:
    enum class VolumeStatus { wanted, overtaken, incomplete, abandoned };

    struct Volume {
        std::int64_t number = -1;                    // none
        std::int64_t next_b_scan = 0;                // next one expected to arrive
        std::int64_t taken_to = 0;                   // number of B-scans taken
        VolumeStatus status = VolumeStatus::wanted;  // applies to all blocks not taken
        std::deque<Block> blocks;
    };

    void begin(const Block& block);
    void leave_out_stray(const Block& block, Volume& arriving);
    void leave_out(Volume& volume, VolumeStatus status);
    void count_left_out(VolumeStatus status, std::int64_t blocks);
    bool is_over(const Volume& volume) const;
    bool has_block() const;
    void count_waiting();

    std::int64_t b_scans_;
    Overload overload_;
    Threads& threads_;
    mutable std::mutex mutex_;
    std::condition_variable_any came_;
    std::condition_variable_any begun_;  // the waiting volume was started
    Volume current_;                     // volume that the consumer takes from
    std::int64_t stray_ = -1;            // number of a volume that arrived without its beginning
    std::optional<Volume> newest_;       // arriving after current_
    bool closed_ = false;
    bool is_busy_ = false;  // the last block taken is being processed
    QueueStats stats_;
};

// ---- Receives the blocks of a session: reconstruction and display, implemented above the engine. All functions are
// called by one thread, except change() and take_messages(), which any thread may call.

class BlockSink {
  public:
    virtual ~BlockSink() = default;

    // Receives the blocks of a volume in order. Returns false if the volume is dropped. Throws the errors of
    // reconstruction; the volume is then abandoned.
    virtual bool feed(const Block& block) = 0;

    // Reconstructs B-scans of the displayed volume again, in place, before any other blocks of it: updates the screen
    // after a setting has changed. Returns false if this is not possible now or at all.
    virtual bool reprocess(const Block& block) = 0;

    // Releases completed blocks without blocking.
    virtual void collect() = 0;

    // Blocks until everything fed has been written.
    virtual void finish() = 0;

    // Requests another plan from some later block on. Callable from any thread. The plan is prepared in the background;
    // of several requests, the last one wins. take_change() reports invalid specs.
    virtual void change(const ReconstructionSpec& spec) = 0;

    // Activates a pending plan, if there is one. A plan with another volume size is only activated with
    // SwapPoint::between_volumes. Returns whether anything changed. Throws Error for an invalid spec; the previous plan
    // stays active.
    enum class SwapPoint { within_volume, between_volumes };
    virtual bool take_change(SwapPoint swap_point) = 0;

    // Returns the messages since the last call. Callable from any thread. A later line replaces an earlier one of the
    // same topic.
    struct SinkMessage {
        std::string line;
        bool is_problem = true;
        std::string topic{};
    };
    virtual std::vector<SinkMessage> take_messages() { return {}; }
};

}  // namespace echolux
