// Recordings of a live source: started and ended in jobs, because creating and completing files takes time; and the
// list of those in the folder for recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/live/recorder.h"
#include "ui/workspace/workspace_state.h"

namespace echolux {

// Result of a recording.
struct RecordingResult {
    std::filesystem::path file;  // TOML of the scan
    RecorderStats stats;
};

// A recording in a folder.
struct ListedRecording {
    std::filesystem::path file;  // TOML of the scan
    std::string lack;            // what it lacks, see lack_of(); empty: nothing
};

// Returns the newest recordings in the subfolders NAME/NAME.toml, newest first. Leaves out what cannot be read.
std::vector<ListedRecording> recordings_in(const std::filesystem::path& folder, std::size_t max_count);

// Name of a recording, for a file and its folder: "subject-raster-2026-11-29-143005". Characters that file names should
// not have become "-"; an empty subject becomes "recording".
std::string name_of_recording(const std::string& subject, const std::string& protocol, std::time_t begun);

class Recordings {
  public:
    Recordings(WorkspaceState& state, Workspace& work) : state_(state), work_(work) {}

    // Starts a recording under this name, or in a new folder with a generated name in
    // keeping_folder(UserFolder::videos). It ends after window.record_volumes or window.record_s.
    void start(const std::filesystem::path& scan_toml = {});
    void stop();
    void update();  // stops a recording that has its length

    bool is_active() const;                                               // or a recording is being started or stopped
    void refuse_while_active() const;                                     // throws Error{bad_setting}
    const std::optional<RecordingResult>& last() const { return last_; }  // the last completed recording

    // Since the start of the recording, and its wanted length; 0: until stopped.
    double seconds() const { return begun_s_ ? state_.now_s - *begun_s_ : 0; }
    double wanted_s() const { return wanted_s_; }
    std::int64_t wanted_volumes() const { return wanted_volumes_; }

    // Returns the newest recordings in the folder, as of the last recording. Reads them in a job.
    static constexpr std::size_t max_listed = 6;
    const std::vector<ListedRecording>& recent();

    // Folders of a recording that starts now, one per disk: keeping_folder(UserFolder::videos), then
    // window.stripe_folders.
    std::vector<std::filesystem::path> folders() const;

  private:
    bool is_running(std::uint64_t job) const;
    std::filesystem::path new_name() const;
    void begin(RecordingRequest wanted, bool has_own_folder);
    void note_end(const RecorderStats& stats);

    WorkspaceState& state_;
    Workspace& work_;
    std::uint64_t starting_ = 0, ending_ = 0;  // ids of the jobs, which use the open document
    std::filesystem::path file_;               // of the recording that was started last
    bool has_own_folder_ = false;              // which is removed if no block arrived
    std::optional<double> begun_s_;
    double wanted_s_ = 0;
    std::int64_t wanted_volumes_ = 0;
    std::optional<RecordingResult> last_;
    std::filesystem::path listed_folder_;  // of recent_; empty: not read yet
    std::vector<ListedRecording> recent_;
};

}  // namespace echolux
