// Implementation of the workspace, shared by its source files: its members, and the path of an opened document, a
// change of settings, and a picture to save.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/open/open_volume.h"
#include "app/session/picture_record.h"
#include "app/session/session_text.h"
#include "app/session/settings_book.h"
#include "app/stage/live_session.h"
#include "compute/plan/describe.h"
#include "ui/workspace/calibrating.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/layering.h"
#include "ui/workspace/raw_proposal.h"
#include "ui/workspace/user_folders.h"
#include "ui/workspace/workspace.h"

namespace echolux {

// A document to be opened, and the values of view and window with which it is displayed.
struct Opening {
    WhatIsOpen what;
    SourceSettings source;
    Values view_values{};
};

// A picture of the view that is drawn in passes between frames of the window, then written.
struct PictureToKeep {
    std::filesystem::path path;
    View view;
    std::string session;   // stored in the picture
    PictureRecord record;  // stored in the picture; completed when it is written
    VolumeSource source;   // source of the displayed volume
    std::optional<double> begun_s;
    std::int64_t passes = 0;                 // completed passes, of view.rest_samples
    std::function<void(Image)> receive{};    // receiver of the picture instead of a file
    std::shared_ptr<Operation> operation{};  // operation to which it belongs
};

struct Workspace::Parts {
    explicit Parts(const WorkspaceOptions& options);
    ~Parts();

    // Calls `work` and returns true if it did not throw. Errors become notices of `place`.
    bool attempt(std::string_view place, const std::function<void()>& work);
    Jobs::Failed to(std::string_view place);  // error handler of a job

    // ---- settings (workspace_settings.cpp)
    // `fails` is called if the values were accepted, but the job that applies them fails.
    bool take(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
              const std::function<void()>& fails = {});
    void take_or_throw(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
                       const std::function<void()>& fails = {});
    const AllowedFolders* folders() const;
    void require_allowed(const std::filesystem::path& path) const;
    bool is_allowed(const std::filesystem::path& path) const;
    void require_allowed(const WhatIsOpen& what) const;
    void require_allowed_source(const WhatIsOpen& what) const;
    void require_all_read(const std::filesystem::path& file, const std::string& assignments) const;
    void require_allowed_files(const Values& wanted) const;
    void take_with_heights(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
                           const std::function<void()>& fails);
    void find_missing_heights();
    void drop_other_channels();
    void set_values(const Values& wanted, const std::string& title, std::optional<Edit> recorded);
    void bring_about(const Change& change);
    void restore_window();
    Values asked_view_values() const;  // view settings from the command line

    // ---- what is open (workspace_files.cpp)
    void open_path(const std::filesystem::path& path, const std::vector<std::string>& assignments);
    void open_session(const std::filesystem::path& path);
    void start_opening(const Opening& opening);
    void show(const MakeExhibit& make, const Opening& opening);
    void begin_recording(RecordingWanted wanted);
    bool is_under_way(std::uint64_t job) const;
    bool is_recording() const;  // or a recording is being started or stopped
    void refuse_while_recording() const;
    void take_over(const Opening& opening);
    void restore(const RestoredSession& session);
    void restore_look(const RestoredSession& session);
    void restore_foreign(RestoredSession session, const std::filesystem::path& from);
    bool is_agreed(const std::filesystem::path& from);
    void use_preset(const RestoredSession& preset);
    void use(const Values& values);
    void close();
    void start_source();
    void stop_source();
    void note_recent(const std::filesystem::path& path);
    // Settings from the command line for reconstruction, one per line.
    std::string scan_assignments() const;
    std::string assignments_for(const std::filesystem::path& file, const std::vector<std::string>& besides) const;

    // ---- raw files (raw_proposal.cpp)
    void propose(const std::filesystem::path& path, const std::vector<RawGuess>& guesses);
    void preview_proposal();
    void accept_proposal();

    // ---- keeping (workspace_keeping.cpp)
    WhatIsOpen what_is_open() const;
    std::string session_text() const;
    std::string remembered_text() const;  // for the state folder
    // For a picture that shows `shown`, regardless of the requested settings.
    std::string picture_text(TissueSettings shown) const;
    std::string look_text() const;  // sections [view] and [transfer]
    bool has_session() const;       // whether there is a state worth remembering
    void autosave();

    // ---- pictures (workspace_pictures.cpp)
    Exhibit& shown_for(const std::filesystem::path& path);
    VolumeSource file_shown() const;  // with its current settings and time point
    VolumeSource volume_shown(const std::filesystem::path& path, bool voxels_suffice);
    std::array<std::int64_t, 3> cross_voxel() const;
    void draw_picture_beside(const std::filesystem::path& path, PictureBits bits, const std::string& session);
    void start_export(const std::filesystem::path& path, const std::function<void(Progress&)>& work);
    void note_saved(const std::filesystem::path& path, KeptFile::ShownBy by = KeptFile::ShownBy::desktop);
    void draw_picture_to_keep();
    void follow_picture_to_keep();
    void drop_pictures_to_keep();
    void check_kept_name(const std::filesystem::path& path) const;
    void write_picture(const PictureToKeep& kept, Image image);

    void hear_session();
    void settings_were_refused(const Scan& in_use);
    void revive();
    LiveSession* live() const;
    void set_cross(const std::array<double, 3>& wanted);

    WorkspaceOptions options;
    StateFolder state;
    Notices notices;
    SettingsBook book;
    UndoHistory history;
    Actions actions;
    std::array<double, 3> cross_um{};
    bool is_cross_inside = false;  // true once it is within a volume
    double now_s = 0;

    WhatIsOpen open;                     // as it was opened
    std::uint64_t opening = 0;           // id of the job
    std::string opening_name;            // name of the source or file being opened
    bool was_opened = false;             // whether anything was opened in this run
    std::filesystem::path last_session;  // session of the previous run; empty: none
    std::filesystem::path asked_about;   // foreign session that needs a confirmation to open an instrument
    std::chrono::steady_clock::time_point asked_at;
    std::filesystem::path session_file;     // of the last save or restore
    std::shared_ptr<RawProposal> proposal;  // jobs hold weak references
    std::uint64_t previewing = 0;           // id of the job

    // Window settings from the command line: values before and after.
    std::map<std::string, std::pair<Value, Value>> asked_window{};
    Values wanted_heights;                 // applied once a volume is available
    std::uint64_t finding_heights = 0;     // id of the job
    std::uint64_t starting_recording = 0;  // these two jobs use the open document
    std::uint64_t ending_recording = 0;

    // Allowed in addition to the folders because the program was started with them; links in files are resolved.
    std::string allowed_source;
    std::vector<std::filesystem::path> allowed_files;
    std::filesystem::path recording;  // the recording that was started last
    std::optional<KeptRecording> last_recording;
    const std::array<std::filesystem::path, 3> own_folders{
        user_folder(UserFolder::pictures), user_folder(UserFolder::videos), user_folder(UserFolder::documents)};
    std::mutex told_by_jobs_mutex;
    std::vector<std::string> told_by_jobs;  // lines for notices
    std::deque<PictureToKeep> to_keep;
    std::string autosaved;
    double autosaved_s = 0;
    Calibrating calibrating;
    Filtering filtering;
    Layering layering;
    std::deque<double> losses_s;  // recent losses of the graphics device

    mutable Stage stage;
    Jobs jobs;  // last member: destroyed first, because last steps refer to the others
};

}  // namespace echolux
