// Queue of blocks for the display. The newest volume wins: the volume in progress is finished, and of those that arrive
// in between only the newest is kept. This bounds the latency for any processing speed and the memory to two volumes.
// Every dropped block is counted with its reason.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>

#include "compute/place.h"
#include "engine/live/threads.h"

namespace echolux {

// Counts of blocks. pushed = taken + waiting + overtaken + incomplete + given_up.
struct QueueStats {
    std::int64_t pushed = 0;
    std::int64_t taken = 0;
    std::int64_t overtaken = 0;   // a newer volume arrived before they were processed
    std::int64_t incomplete = 0;  // blocks of volumes with a missing block
    std::int64_t given_up = 0;    // blocks of volumes that the consumer could not finish
    std::int64_t overtaken_volumes = 0;
    std::int64_t incomplete_volumes = 0;
    std::int64_t waiting = 0;
    std::int64_t max_waiting = 0;
};

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

    // Returns the next block of the current volume, then of the newest one. Returns nullopt after `patience`, or when
    // the queue is closed.
    std::optional<Block> take(std::chrono::milliseconds patience);

    // Drops the waiting blocks of the current volume, which will not be finished.
    void give_up_current();

    // close() wakes the consumer, and take() returns nothing from then on. clear() empties and reopens the queue.
    void close();
    void clear();

    // Returns whether nothing waits and the last block taken is done, which the consumer shows by calling take() again.
    bool is_idle() const;

    QueueStats stats() const;

  private:
    enum class Fate { wanted, overtaken, incomplete, given_up };

    struct Volume {
        std::int64_t number = -1;      // none
        std::int64_t next_b_scan = 0;  // next one expected to arrive
        std::int64_t taken_to = 0;     // number of B-scans taken
        Fate fate = Fate::wanted;      // applies to all blocks not taken
        std::deque<Block> blocks;
    };

    void begin(const Block& block);
    void leave_out_stray(const Block& block, Volume& arriving);
    void leave_out(Volume& volume, Fate fate);
    void count_left_out(Fate fate, std::int64_t blocks);
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

}  // namespace echolux
