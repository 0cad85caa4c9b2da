// Everything users work with, independent of a window: the open document, settings with undo, actions, jobs, notices,
// and the state that outlasts the program. The window displays and calls it; tests do the same without a window.
//
// All functions are called by one thread, which also draws. They never wait for a disk, a device or an instrument.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/figure/figure_job.h"
#include "app/jobs/jobs.h"
#include "app/settings/settings_book.h"
#include "app/viewer/viewer.h"
#include "compute/backend.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "engine/live/recorder.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "ui/workspace/actions.h"
#include "ui/workspace/notices.h"
#include "ui/workspace/user_folders.h"

namespace echolux {

class Calibrating;    // ui/workspace/calibrating.h
class Filtering;      // ui/workspace/filtering.h
class Layering;       // ui/workspace/layering.h
struct MovieSpec;     // app/movie/movie_plan.h
struct View;          // render/view/view.h
struct VolumeSource;  // app/open/open_volume.h

// Result of a recording.
struct RecordingResult {
    std::filesystem::path file;  // TOML of the scan
    RecorderStats stats;
};

struct WorkspaceOptions {
    GpuDevice device;
    BackendChoice backend;
    std::filesystem::path state_folder;    // recent files, presets, autosave, layout; empty: nothing is stored
    std::vector<std::string> assignments;  // such as "view.mode=mip"; override restored settings
    std::shared_ptr<const AllowedFolders> folders = {};  // readable and writable folders; nullptr: no limits
};

// State of an edit. Dragging a slider makes many edits, which are undone as one.
enum class Edit { in_progress, done };

class Workspace {
  public:
    // Throws Error{device, bad_setting}.
    explicit Workspace(const WorkspaceOptions& options);
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    Viewer& viewer();
    Jobs& jobs();
    Notices& notices();
    Actions& actions();  // the window adds its own actions
    Calibrating& calibrating();
    Filtering& filtering();
    Layering& layering();

    // Collects results of jobs and sessions and saves the state periodically. Call it once per frame with a monotonic
    // time in seconds. Throws Error{device} if the graphics device is lost.
    void update(double now_s);
    // True while work is in progress: call update() again soon, even without input.
    bool is_busy() const;

    // Restores the renderer after Error{device} from this class or from drawing, at most twice per minute. Everything
    // that uses the renderer, such as screens, must be released before. Returns false if the device is not back yet
    // (viewer().has_renderer() is false; try again after a pause), or if it is lost repeatedly, which a notice
    // explains.
    bool device_lost(const Error& error);

    double now_s() const;

    // Runs `work` as part of `operation`, including everything that follows from it (see jobs.h). Errors become notices
    // and are also reported to the operation.
    void perform(const std::shared_ptr<Operation>& operation, const std::function<void()>& work);
    const AllowedFolders* folders() const;  // folders allowed for the current operation; nullptr: no limits
    // Limits all later requests to these folders. The source and the files with which the program was started stay
    // allowed.
    void limit_to(std::shared_ptr<const AllowedFolders> folders, const std::string& source,
                  const std::vector<std::filesystem::path>& files = {});

    // ---- the open document. Slow parts run as jobs; failures become notices.

    // Opens volumes, series, scan TOML, raw file, session TOML, picture saved by Echolux (restores its view), or
    // transfer function. A raw file without a description becomes a proposal, see raw_proposal(). `assignments`
    // override the settings of a scan or raw file.
    void open(const std::filesystem::path& path, const std::vector<std::string>& assignments = {});
    void open_source(const SourceRequest& source);
    // Returns the progress of opening the source or file of this name, or nullopt if it is not being opened.
    std::optional<JobState> opening(const std::string& name) const;
    void close();
    bool is_open();
    void start_source();  // start_source() and stop_source() start jobs; they do nothing without a live source
    void stop_source();
    LiveController* live();  // session of a document that is reconstructed from spectra; otherwise nullptr

    // Returns another time point of the open file, or nullopt for a live source.
    std::optional<VolumeSource> time_point(std::int64_t step) const;
    std::vector<std::filesystem::path> recent() const;  // files that may be opened, newest first
    struct RawProposal;                                 // ui/workspace/raw_proposal.h
    RawProposal* raw_proposal();                        // waiting for an answer; nullptr: none
    void accept_raw_proposal();                         // writes the TOML beside the file and opens it
    void drop_raw_proposal();

    // ---- settings. Sections view and window are always present; scan, calibration, recipe and flow only with a scan
    // or source.

    View& view();  // for moving the camera; call view_edited() afterwards
    void view_edited(Edit edit);
    const WindowSettings& window() const;
    const TissueSettings& tissue() const;
    bool has_effect(std::string_view key) const;  // with the current values of other settings
    const Scan* scan() const;                     // with the current settings; nullptr without a scan or source

    const std::vector<BoundField>& fields() const;
    const BoundField* field(std::string_view key) const;  // nullptr if not available now

    // Changes a setting. Invalid values become a notice of the key's section and change nothing. Returns true if
    // accepted.
    bool change(std::string_view key, const Value& value, Edit edit = Edit::done);
    // Changes several settings, all or none, as one undo step. `title` names the step by a key or section.
    bool change_together(const std::string& title, const std::map<std::string, Value>& values, Edit edit = Edit::done);
    // Like change_together(), but throws Error{bad_setting, bad_file} instead of adding a notice. For remote control.
    void set(const std::string& title, const std::map<std::string, Value>& values, Edit edit = Edit::done);
    void end_edit();  // starts a new undo step with the next edit
    bool reset(std::string_view key);
    // Sets a hand-drawn curve in values of the volume. It replaces preset, file and range.
    bool set_transfer_curve(const TransferCurve& curve, Edit edit = Edit::done);

    bool can_undo() const;
    bool can_redo() const;
    // Adds a change of something that is not a setting. Its values name states for take_or_throw(), see Layering.
    void add_to_history(const Change& change);
    void undo();
    void redo();

    // ---- cross-hair, common to all panes: position from the centre of the volume (depth, A-scans, B-scans) in um, or
    // in voxels without known spacing
    const std::array<double, 3>& cross_um() const;
    void set_cross_um(const std::array<double, 3>& cross);

    // ---- saving
    // Checks the name before anything is written. Throws Error{output} if the displayed data comes from this file.
    void check_recent_name(const std::filesystem::path& path) const;
    void save_session(const std::filesystem::path& path);  // the complete state as TOML; starts a job
    void save_volume(const std::filesystem::path& path);   // the displayed volume; starts a job
    // Saves the kept volumes of a live source as one series: those of the last `seconds`, or all if 0. A job; display
    // and source continue.
    void save_kept(const std::filesystem::path& path, double seconds = 0);
    // Runs `work` in a job that writes this file.
    void write_beside(const std::filesystem::path& path, const std::function<void(Progress&)>& work);
    // Saves the view at full quality as PNG or TIFF (by the name), with all settings. Pictures of up to 4096 x 4096
    // pixels with 8 bits are drawn between frames of the window; others use a separate renderer in a job.
    void take_screenshot(const std::filesystem::path& path);  // 8 bits per channel
    void save_picture(const std::filesystem::path& path, PictureBits bits);
    // Returns the progress from 0 to 1 of a picture that is drawn between frames, or nullopt.
    std::optional<double> share_of_picture() const;
    // Draws such a picture for `receive` instead of a file. Up to 4096 x 4096 pixels.
    void draw_picture(const View& view, std::function<void(Image)> receive);
    // Saves a B-scan (by default at the cross-hair) and a projection with axes as PDF, SVG or PNG.
    void save_figure(const std::filesystem::path& path, FigureContent content, const FigureStyle& style);
    // A-scan at the cross-hair; strongest echo of each A-scan in the B-scan there
    enum class TableKind { a_scan, echoes };
    void save_table(const std::filesystem::path& path, TableKind kind);
    // Makes a movie of the current view with a separate renderer. A job; if cancelled, the part made is kept as a valid
    // movie. The codec follows from the name.
    void make_movie(const std::filesystem::path& path, const MovieSpec& spec);
    void save_preset(const std::string& name);  // stores view, recipe and flow under a name
    void use_preset(const std::string& name);
    std::vector<std::string> presets() const;

    // Folder for files with generated names: window.record_folder, else the user's folder.
    std::filesystem::path keeping_folder(UserFolder folder) const;
    // Folders of a recording that starts now, one per disk: keeping_folder(UserFolder::videos), then
    // window.stripe_folders.
    std::vector<std::filesystem::path> recording_folders() const;
    // Returns an unused name such as "echolux-2026-11-22-143005.png" in that folder. `kind` is a part of the name:
    // "session-".
    std::filesystem::path new_name(UserFolder folder, const std::string& kind, const std::string& ending) const;
    std::filesystem::path session_file() const;  // file of the last save or restore; empty: none
    bool has_last_session() const;               // session of the previous run
    void restore_last_session();

    // Starts a recording under this name, or under a generated name in keeping_folder(UserFolder::videos).
    void start_recording(const std::filesystem::path& scan_toml = {});
    void stop_recording();
    const std::optional<RecordingResult>& last_recording() const;  // the last completed recording

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
