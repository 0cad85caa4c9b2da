// Recordings of a live source: started and ended in jobs, because creating and completing files takes time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "engine/live/recorder.h"
#include "ui/workspace/workspace_state.h"

namespace echolux {

// Result of a recording.
struct RecordingResult {
    std::filesystem::path file;  // TOML of the scan
    RecorderStats stats;
};

class Recordings {
  public:
    Recordings(WorkspaceState& state, Workspace& work) : state_(state), work_(work) {}

    // Starts a recording under this name, or under a generated name in keeping_folder(UserFolder::videos).
    void start(const std::filesystem::path& scan_toml = {});
    void stop();

    bool is_active() const;                                               // or a recording is being started or stopped
    void refuse_while_active() const;                                     // throws Error{bad_setting}
    const std::optional<RecordingResult>& last() const { return last_; }  // the last completed recording

    // Folders of a recording that starts now, one per disk: keeping_folder(UserFolder::videos), then
    // window.stripe_folders.
    std::vector<std::filesystem::path> folders() const;

  private:
    bool is_running(std::uint64_t job) const;
    void begin(RecordingRequest wanted);
    void note_end(const RecorderStats& stats);

    WorkspaceState& state_;
    Workspace& work_;
    std::uint64_t starting_ = 0, ending_ = 0;  // ids of the jobs, which use the open document
    std::filesystem::path file_;               // of the recording that was started last
    std::optional<RecordingResult> last_;
};

}  // namespace echolux
