// Records every block of a source while others work with it: a queue of bounded length and a thread that writes
// (recording_writer). A disk that is full or too slow costs blocks of the recording, never the display: what is missing
// is counted, said at once, and marked in the file.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "compute/error.h"
#include "compute/place.h"
#include "engine/live/recording_writer.h"

namespace echolux {

struct RecorderStats : WrittenStats {
    std::int64_t missing_blocks = 0;   // that came and are not in the file: too slow, or could not be written
    std::int64_t lost_blocks = 0;      // that the source lost
    std::int64_t refused_blocks = 0;   // repeated, out of order, of the wrong size, or in a GPU's memory
    std::int64_t blocks_held = 0;      // of the pool, now
    std::int64_t max_blocks_held = 0;  // so far
    std::optional<Error> problem{};    // as Recorder::problem()
};

class Recorder {
  public:
    // Creates the files, and starts. Throws Error{output, bad_setting} as RecordingWriter does; bad_setting also where
    // no block may be held.
    explicit Recorder(RecordingWanted wanted, RecordingTools tools = RecordingTools::real());
    ~Recorder();  // finishes
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // Never waits for the disk. The recording begins with the first block that begins a volume. True: the block is in
    // the file, will be, or comes before the recording's first volume. False: it will not be, or the disk has failed
    // before and may again; problem() says why. By one thread.
    bool offer(const Block& block);

    RecorderStats stats() const;

    // What went wrong, the disk's own words first. Nothing: every block so far is in the file or on its way to it.
    std::optional<Error> problem() const;

    // Writes what is held, and ends the files, or removes them where no block is in them; later blocks are not taken.
    // What fails is told by problem(). By one thread.
    void finish() noexcept;

  private:
    bool has_begun(const Block& block);
    std::string misfit(const Block& block) const;
    void leave_out(BlockToRecord block);
    void work();
    void note_written(std::int64_t blocks_let_go);
    template <class Work>
    void attempt(Work&& work);

    const std::int64_t max_blocks_held_;
    Threads& threads_;
    RecordingWriter writer_;  // of the thread
    const RecordingLayout layout_;
    const std::filesystem::path path_;

    // Of the thread that offers.
    std::optional<std::int64_t> seen_volume_;   // of the first block that came
    std::optional<std::int64_t> first_volume_;  // of the recording
    std::uint64_t next_sequence_ = 0;
    std::int64_t next_place_ = 0;

    mutable std::mutex mutex_;  // of what follows
    std::condition_variable_any ready_;
    std::deque<BlockToRecord> queue_;  // never two entries of missing blocks in a row
    bool is_ending_ = false;
    RecorderStats stats_;
    std::int64_t too_slow_blocks_ = 0;
    std::string refusal_;  // the last one
    std::optional<Error> disk_problem_;

    LiveThread thread_;
};

}  // namespace echolux
