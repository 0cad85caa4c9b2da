// Blocks on their way to the display. Newest wins, by whole volumes: the one that is being worked on is finished, of
// those that arrive meanwhile only the newest is kept. So latency is bounded however slow processing is, memory is that
// of two volumes, and every block that is left out is counted with its reason.
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

// Blocks that were pushed, and what became of them. pushed = taken + waiting + overtaken + incomplete + given_up.
struct QueueStats {
    std::int64_t pushed = 0;
    std::int64_t taken = 0;
    std::int64_t overtaken = 0;   // a newer volume came before processing got to them
    std::int64_t incomplete = 0;  // of volumes of which a block is missing
    std::int64_t given_up = 0;    // of volumes that who takes could not finish
    std::int64_t overtaken_volumes = 0;
    std::int64_t incomplete_volumes = 0;
    std::int64_t waiting = 0;
    std::int64_t max_waiting = 0;
};

// What becomes of a volume that nobody has begun to take when the next one comes.
enum class Overload {
    newest_wins,  // it is left out
    source_waits  // the next one is not let in before: for volumes of which none may be missing
};

// One thread pushes, one thread takes.
class DisplayQueue {
  public:
    // `b_scans` of a volume.
    explicit DisplayQueue(std::int64_t b_scans, Overload overload = Overload::newest_wins,
                          Threads& threads = real_threads())
        : b_scans_(b_scans), overload_(overload), threads_(threads) {}

    // Blocks of a volume come in order; one that does not follow the one before makes its volume incomplete, and what
    // comes of it later is left out. With source_waits it waits, until `stop`, which leaves the block out.
    void push(Block block, const std::stop_token& stop = {});

    // Blocks of one volume, then of the newest. Nothing: none came in time, or the queue is closed.
    std::optional<Block> take(std::chrono::milliseconds patience);

    // The volume that is being taken will not be finished: what waits of it is left out.
    void give_up_current();

    // Wakes who takes; nothing is taken any more. Open again after clear().
    void close();
    void clear();

    // Nothing waits, and what was taken last is done: who takes has asked for the next.
    bool is_idle() const;

    QueueStats stats() const;

  private:
    enum class Fate { wanted, overtaken, incomplete, given_up };

    struct Volume {
        std::int64_t number = -1;      // none
        std::int64_t next_b_scan = 0;  // that is expected to arrive
        std::int64_t taken_to = 0;     // B-scans
        Fate fate = Fate::wanted;      // of all blocks that are not taken
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
    std::condition_variable_any begun_;  // the volume that waited
    Volume current_;                     // being taken
    std::int64_t stray_ = -1;            // number of a volume that came without its beginning
    std::optional<Volume> newest_;       // arriving behind it
    bool closed_ = false;
    bool is_busy_ = false;  // what was taken last is worked on
    QueueStats stats_;
};

}  // namespace echolux
