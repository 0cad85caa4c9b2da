// Everything users work with, independent of a window: the open document, settings with undo, actions, jobs, notices,
// and the state that outlasts the program. The window displays and calls it; tests do the same without a window.
//
// All functions are called by one thread, which also draws. They never wait for a disk, a device or an instrument.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/jobs/jobs.h"
#include "app/settings/settings_book.h"
#include "app/viewer/viewer.h"
#include "compute/backend.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "ui/workspace/actions.h"
#include "ui/workspace/notices.h"
#include "ui/workspace/user_folders.h"

namespace echolux {

class Calibrating;   // ui/workspace/calibrating.h
class Exporting;     // ui/workspace/exporting.h
class Filtering;     // ui/workspace/filtering.h
class Layering;      // ui/workspace/layering.h
class Losses;        // ui/workspace/losses.h
class Operating;     // ui/workspace/operating.h
class RawProposals;  // ui/workspace/raw_proposal.h
class Recordings;    // ui/workspace/recordings.h

struct WorkspaceOptions {
    GpuDevice device;
    BackendChoice backend;
    std::filesystem::path state_folder;    // recent files, presets, autosave, layout; empty: nothing is stored
    std::vector<std::string> assignments;  // such as "view.mode=mip"; override restored settings
    std::shared_ptr<const AllowedFolders> folders = {};  // readable and writable folders; nullptr: no limits
};

// State of an edit. Dragging a slider makes many edits, which are undone as one.
enum class Edit { in_progress, done };

// Behaviour of requests that end the open document. asks: if something would be lost, question() is set instead.
enum class Replacing { asks, at_once };

// A question that the window displays. Nothing happens until it is answered.
struct Question {
    std::string title, text;    // "Open ball.nrrd?" and the consequences
    std::string confirm, keep;  // labels of the buttons
    std::function<void()> confirmed;
    bool is_offer = false;  // confirming loses nothing, so Enter confirms; obsolete once something is opened
};

class Workspace {
  public:
    // Throws Error{device, bad_setting}.
    explicit Workspace(const WorkspaceOptions& options);
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    // ---- the parts

    Viewer& viewer();
    Jobs& jobs();
    Notices& notices();
    Actions& actions();                    // the window adds its own actions
    const SettingsBook& settings() const;  // scan, calibration, recipe and flow only with a scan or source
    UndoHistory& history();                // values of steps may name states for take_or_throw(), see Layering
    Calibrating& calibrating();
    Filtering& filtering();
    Layering& layering();
    Operating& operating();
    Exporting& exporting();
    Recordings& recordings();
    RawProposals& raw();
    Losses& losses();

    // ---- turns

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

    const AllowedFolders* folders() const;  // folders allowed for the current request; nullptr: no limits
    // Limits all later requests to these folders. The source and the files with which the program was started stay
    // allowed.
    void limit_to(std::shared_ptr<const AllowedFolders> folders, const std::string& source,
                  const std::vector<std::filesystem::path>& files = {});

    // ---- the open document. Slow parts run as jobs; failures become notices.

    // Opens volumes, series, scan TOML, raw file, session TOML, picture saved by Echolux (restores its view), or
    // transfer function. A raw file without a description becomes a proposal, see raw(). `assignments`
    // override the settings of a scan or raw file.
    void open(const std::filesystem::path& path, const std::vector<std::string>& assignments = {},
              Replacing replacing = Replacing::asks);
    void open_source(const SourceRequest& source, Replacing replacing = Replacing::asks);
    // Returns the progress of opening the source or file of this name, or nullopt if it is not being opened.
    std::optional<JobState> opening(const std::string& name) const;
    // Returns the settings of the scan with which the same source is being opened again, for example because a method
    // of flow needs repeats. nullptr: it is not.
    const Values* restarting() const;
    void close(Replacing replacing = Replacing::asks);
    // Closes the document and restores the default view; the next session is saved under a new name.
    void begin_new(Replacing replacing = Replacing::asks);
    void start_source();  // start_source() and stop_source() start jobs; they do nothing without a live source
    void stop_source();
    std::vector<std::filesystem::path> recent() const;  // files that may be opened, newest first

    // ---- questions

    // Lets requests ask before they end a running source or discard unsaved work. Without it they never ask.
    void allow_questions() { asks_ = true; }
    void ask(Question question) { question_ = std::move(question); }
    const std::optional<Question>& question() const { return question_; }
    void answer(bool is_confirmed);
    // Sentences about what would be lost if the open document were closed; empty: nothing.
    std::string losses_of_closing() const;

    // ---- settings

    View& view();  // for moving the camera; call view_edited() afterwards
    void view_edited(Edit edit);
    bool has_effect(std::string_view key) const;  // with the current values of other settings
    // Changes a setting. Returns the settings that changed, which are none if a job must find heights or start the scan
    // again with repeats first. Invalid values become a notice of the key's section, change nothing and return nullopt.
    std::optional<Change> change(std::string_view key, const Value& value, Edit edit = Edit::done);
    // Changes several settings, all or none, as one undo step. `title` names the step by a key or section.
    std::optional<Change> change_together(const std::string& title, const Values& values, Edit edit = Edit::done);
    // Like change_together(), but throws Error{bad_setting, bad_file} instead of adding a notice. For remote control.
    Change set(const std::string& title, const Values& values, Edit edit = Edit::done);
    std::optional<Change> reset(std::string_view key);
    // Sets a hand-drawn curve in values of the volume. It replaces preset, file and range.
    std::optional<Change> set_transfer_curve(const TransferCurve& curve, Edit edit = Edit::done);

    void undo();
    void redo();

    // ---- cross-hair, common to all panes: position from the centre of the volume (depth, A-scans, B-scans) in um, or
    // in voxels without known spacing
    const std::array<double, 3>& cross_um() const;
    void set_cross_um(const std::array<double, 3>& cross);

    // ---- files

    // Checks the name before anything is written. Throws Error{output} if the displayed data comes from this file.
    void check_recent_name(const std::filesystem::path& path) const;
    void save_session(const std::filesystem::path& path);  // the complete state as TOML; starts a job
    std::filesystem::path session_file() const;            // file of the last save or restore; empty: none
    bool has_last_session() const;                         // session of the previous run
    bool has_crashed() const;                              // the previous run did not exit properly
    void restore_last_session();
    void save_preset(const std::string& name);  // stores view, recipe and flow under a name
    void use_preset(const std::string& name);
    std::vector<std::string> presets() const;

    // Folder for files with generated names: window.record_folder, else the user's folder.
    std::filesystem::path keeping_folder(UserFolder folder) const;
    // Returns an unused name such as "echolux-2026-11-22-143005.png" in that folder. `kind` is a part of the name:
    // "session-".
    std::filesystem::path new_name(UserFolder folder, const std::string& kind, const std::string& ending) const;

  private:
    struct Parts;
    bool asks_ = false;
    std::optional<Question> question_;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
