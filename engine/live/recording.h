// The recording of a session, while there is one: begun and ended by whoever asks for it, fed by the thread that
// acquires. Where there is none, whatever it is told means nothing.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/live/recorder.h"

namespace echolux {

class Recording {
  public:
    // What is to be said of it, empty: nothing. Throws Error{bad_setting}: one is under way, or begins; Error{output}
    // as Recorder.
    std::string begin(RecordingWanted wanted, const RecordingTools& tools);

    // Waits for the disk, and no block waits for it. Nothing: there was none.
    std::optional<RecorderStats> end();

    // What has gone wrong, when it begins, and again whenever ten times as many blocks are missing.
    std::optional<Error> offer(const Block& block);

    void note_lost(std::int64_t blocks);  // as Recorder
    void note_interruption();

    std::optional<RecorderStats> stats() const;

  private:
    class Beginning;

    mutable std::mutex mutex_;  // held while the recorder is exchanged or told something
    std::unique_ptr<Recorder> recorder_;
    bool is_beginning_ = false;      // one that makes its files; nobody else may begin
    std::int64_t missing_said_ = 0;  // blocks
};

}  // namespace echolux
