// Records every block of a source while others work with it: a queue of bounded length and a thread that writes
// (recording_writer). A disk that is full or too slow costs blocks of the recording, never the display: what is missing
// is counted, said at once, and marked in the file. Where a disk fails to flush, the recording goes on in new files.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compute/error.h"
#include "compute/place.h"
#include "engine/live/recording_writer.h"

namespace echolux {

struct RecorderStats : WrittenStats {
    std::int64_t missing_blocks = 0;   // that came and are not in the files: too slow, or could not be written
    std::int64_t lost_blocks = 0;      // that the source lost
    std::int64_t refused_blocks = 0;   // repeated, out of order, of the wrong size, or in a GPU's memory
    std::int64_t blocks_held = 0;      // of the pool, now
    std::int64_t max_blocks_held = 0;  // so far
    std::int64_t files = 1;            // recordings: NAME, and those that it went on in
    std::string stripes_left{};        // as RecordingWriter::stripes_left(), when it has ended
    std::optional<Error> problem{};    // as Recorder::problem()

    std::int64_t blocks_not_in_it() const { return missing_blocks + lost_blocks + refused_blocks; }
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

    // The source lost blocks, or sent some that nobody could use: before the next one, or at the end. By the thread
    // that offers, as the next one.
    void note_lost(std::int64_t blocks);

    // The source failed: what it would have sent until it is back is in no count.
    void note_interruption();

    RecorderStats stats() const;

    // What is worth saying at the beginning, and no problem; empty: nothing.
    std::string notice() const;

    // What went wrong, the disk's own words first. Nothing: every block so far is in the file or on its way to it.
    std::optional<Error> problem() const;

    // Writes what is held, and ends the files, or removes them where no block is in them; later blocks are not taken.
    // What fails is told by problem(). By one thread.
    void finish() noexcept;

  private:
    bool has_begun(const Block& block);
    std::string misfit(const Block& block) const;
    void leave_out(BlockToRecord block);
    void note_refused(const Block& block);
    void work();
    void take(BlockToRecord block);
    void go_on_in_new_files(std::int64_t volume);
    void end_files(const EndOfRecording& end);
    EndOfRecording end_of_recording() const;
    void note_written(std::int64_t blocks_let_go);
    template <class Work>
    void attempt(Work&& work);
    void note(const std::exception& what, bool had_failed);
    std::string rest_after_failed_flush() const;

    const std::int64_t max_blocks_held_;
    const RecordingTools tools_;
    Threads& threads_;
    const RecordingWanted wanted_;

    // Of the thread that writes.
    std::unique_ptr<RecordingWriter> writer_;
    std::int64_t files_volume_ = 0;  // of the recording, which is the first one of the files
    WrittenStats before_;            // of files that the recording went on from
    double tried_again_s_ = 0;
    bool has_tried_new_files_ = false;  // since writer_ failed

    const RecordingLayout layout_;
    const std::filesystem::path path_;
    const bool keeps_names_;
    const std::string disk_rate_;

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
    std::int64_t lost_since_ = 0;       // the last block that was offered
    std::int64_t lost_at_refused_ = 0;  // before blocks that were refused since the last one that was taken
    std::int64_t interruptions_since_ = 0;
    std::int64_t unrecorded_blocks_ = 0;  // there was no memory to note them
    std::string refusal_;                 // the last one
    std::optional<Error> disk_problem_;
    bool is_of_flush_ = false;                      // disk_problem_
    std::vector<std::filesystem::path> raw_files_;  // of all files, but for those that were removed
    std::filesystem::path kept_before_;             // the recording that this one was to replace, where it stays
    bool is_out_of_memory_ = false;                 // so that there was none to say what went wrong

    LiveThread thread_;
};

}  // namespace echolux
