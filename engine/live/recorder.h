// Records every block of a source while others process it: a bounded queue and a writing thread (RecordingWriter). A
// full or slow disk loses blocks of the recording but never affects the display. Missing blocks are counted, reported
// at once, and marked in the file. If a disk fails to flush, the recording continues in new files.
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
#include "compute/plan/described.h"
#include "compute/voxel_target.h"
#include "engine/live/recording_writer.h"

namespace echolux {

struct RecorderStats : WrittenStats {
    std::int64_t missing_blocks = 0;   // received but not in the files: too slow, or could not be written
    std::int64_t lost_blocks = 0;      // lost by the source
    std::int64_t refused_blocks = 0;   // repeated, out of order, of the wrong size, or in GPU memory
    std::int64_t blocks_held = 0;      // blocks of the pool held now
    std::int64_t max_blocks_held = 0;  // max until now
    std::int64_t files = 1;            // number of recordings: NAME and its continuations
    bool has_all_volumes = false;      // RecordingRequest::volumes have arrived
    std::string stripes_left{};        // RecordingWriter::stripes_left() after the end
    std::optional<Error> problem{};    // Recorder::problem()

    // Total of blocks that are not in the recording.
    std::int64_t blocks_not_in_it() const { return missing_blocks + lost_blocks + refused_blocks; }
};
template <>
const std::vector<Stat<RecorderStats>>& describe_stats<RecorderStats>();

class Recorder {
  public:
    // Creates the files and starts the writing thread. Throws Error{output, bad_setting} as RecordingWriter does, and
    // bad_setting if no block may be held.
    explicit Recorder(RecordingRequest wanted, RecordingTools tools = RecordingTools::real());
    ~Recorder();  // calls finish()
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // Queues the block for writing; never waits for the disk. The recording begins with the first block at the start of
    // a volume. Returns true if the block is or will be in the file, or precedes the first volume. Returns false if it
    // will not be, or if the disk has failed before and may fail again; problem() explains. Blocks beyond the wanted
    // number of volumes are ignored. Call from one thread.
    bool offer(const Block& block);

    // Reports blocks that the source lost or sent in an unusable form, before the next block or at the end. Call from
    // the offering thread.
    void note_lost(std::int64_t blocks);

    // Reports a failure of the source. Blocks that it would have sent until its return are not counted. Call from the
    // offering thread.
    void note_interruption();

    RecorderStats stats() const;

    // Returns information for the user at the beginning, not a problem; may be empty.
    std::string notice() const;

    // Returns what went wrong, errors of the disk first; nullopt if every block is in the file or on its way.
    std::optional<Error> problem() const;

    // Writes the held blocks and completes the files, or removes them if they contain no block. Later blocks are not
    // accepted. problem() reports errors. Call from one thread.
    void finish() noexcept;

  private:
    bool has_begun(const Block& block);
    bool has_all_volumes(const Block& block);
    bool is_disk_behind() const;
    std::string misfit(const Block& block) const;
    void leave_out(BlockToRecord block);
    void note_refused(const Block& block);
    void work();
    void take(BlockToRecord block);
    void continue_in_new_files(std::int64_t volume);
    void end_files(const EndOfRecording& end);
    EndOfRecording end_of_recording() const;
    void note_written(std::int64_t released_blocks);
    template <class Work>
    void attempt(Work&& work);
    void note(const std::exception& what, bool had_failed);
    std::string rest_after_failed_flush() const;

    const std::int64_t max_blocks_held_;
    const RecordingTools tools_;
    Threads& threads_;
    const RecordingRequest wanted_;

    // Used by the writing thread.
    std::unique_ptr<RecordingWriter> writer_;
    std::int64_t files_volume_ = 0;  // volume of the recording at which the current files begin
    WrittenStats before_;            // totals of the files before the current ones
    double tried_again_s_ = 0;
    bool has_tried_new_files_ = false;  // since writer_ failed

    const RecordingLayout layout_;
    const std::filesystem::path path_;
    const bool keeps_names_;
    const std::string disk_rate_;

    // Used by the offering thread.
    std::optional<std::int64_t> seen_volume_;   // volume of the first block received
    std::optional<std::int64_t> first_volume_;  // first volume of the recording
    std::uint64_t next_sequence_ = 0;
    std::int64_t next_place_ = 0;

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable_any ready_;
    std::deque<BlockToRecord> queue_;  // adjacent entries of missing blocks are merged
    bool is_ending_ = false;
    RecorderStats stats_;
    std::int64_t too_slow_blocks_ = 0;           // left out because too many blocks were held
    bool disk_is_behind_ = false;                // measured when one of them was left out
    std::optional<double> disk_since_s_;         // the writing thread uses the disk since then
    double backlog_s_ = 0, backlog_disk_s_ = 0;  // begin of the present backlog, and use of the disk since then
    std::int64_t backlog_arrived_bytes_ = 0, backlog_written_bytes_ = 0;
    std::int64_t lost_since_ = 0;       // since the last offered block
    std::int64_t lost_at_refused_ = 0;  // before refused blocks since the last accepted one
    std::int64_t interruptions_since_ = 0;
    std::int64_t unrecorded_blocks_ = 0;  // could not be noted for lack of memory
    std::string refusal_;                 // the last one
    std::optional<Error> disk_problem_;
    bool is_of_flush_ = false;                      // whether disk_problem_ is a failed flush
    std::vector<std::filesystem::path> raw_files_;  // all raw files that were not removed
    std::filesystem::path kept_before_;             // folder of the replaced recording if it was kept
    bool is_out_of_memory_ = false;                 // no memory was left to store the problem

    LiveThread thread_;
};

// ---- The recording of a session, if one is active. Any thread may begin and end it; the acquiring thread feeds it.
// Without an active recording, all other calls are no-ops.

class Recording {
  public:
    // Begins a recording. Returns information for the user, may be empty. Throws Error{bad_setting} if a recording is
    // active or begins, and Error{output} as Recorder does.
    std::string begin(RecordingRequest wanted, const RecordingTools& tools);

    // Ends the recording and waits for the disk; offer() does not block in the meantime. Returns nullopt without a
    // recording.
    std::optional<RecorderStats> end();

    // Records the block. Returns a problem when it first occurs, and again each time ten times as many blocks are
    // missing.
    std::optional<Error> offer(const Block& block);

    void note_lost(std::int64_t blocks);  // as in Recorder
    void note_interruption();

    std::optional<RecorderStats> stats() const;

  private:
    class Beginning;

    mutable std::mutex mutex_;  // held while the recorder is replaced or called
    std::unique_ptr<Recorder> recorder_;
    bool is_beginning_ = false;          // a recorder is creating its files; no other may begin
    std::int64_t missing_reported_ = 0;  // number of blocks last reported
};

}  // namespace echolux
