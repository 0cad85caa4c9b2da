// The recording of a session, if one is active. Any thread may begin and end it; the acquiring thread feeds it. Without
// an active recording, all other calls are no-ops.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/live/recorder.h"

namespace echolux {

class Recording {
  public:
    // Begins a recording. Returns information for the user, may be empty. Throws Error{bad_setting} if a recording is
    // active or begins, and Error{output} as Recorder does.
    std::string begin(RecordingWanted wanted, const RecordingTools& tools);

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
    bool is_beginning_ = false;      // a recorder is creating its files; no other may begin
    std::int64_t missing_said_ = 0;  // number of blocks last reported
};

}  // namespace echolux
