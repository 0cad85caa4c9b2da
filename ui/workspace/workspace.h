// All that the user works with, without a window: what is open, every setting with undo, actions, jobs, notices, and
// what of it outlasts the program. The window draws it and calls it; tests do the same without one. One thread, the one
// that draws, calls everything here; nothing here waits for a disk, a device or an instrument.
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
#include "app/session/tissue_settings.h"
#include "app/session/undo.h"
#include "app/session/window_settings.h"
#include "app/stage/stage.h"
#include "compute/backend.h"
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

struct KeptRecording {
    std::filesystem::path file;  // the scan's TOML
    RecorderStats stats;
};

struct WorkspaceOptions {
    DeviceChoice device;
    BackendChoice backend;
    std::filesystem::path state_folder;    // of recent files, presets, autosave, layout; empty: nothing is kept
    std::vector<std::string> assignments;  // "view.mode=mip", over what is restored
    std::shared_ptr<const AllowedFolders> folders = {};  // that are read and written; nullptr: any
};

// How an edit of a setting stands: a slider that is dragged makes many, which are undone as one.
enum class Edit { under_way, done };

class Workspace {
  public:
    // Throws Error{device, bad_setting}.
    explicit Workspace(const WorkspaceOptions& options);
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    Stage& stage();
    Jobs& jobs();
    Notices& notices();
    Actions& actions();  // the window adds its own
    Calibrating& calibrating();
    Filtering& filtering();
    Layering& layering();

    // Once a picture: takes what jobs and sessions have ready, saves now and then. `now_s`: seconds that never run
    // backwards. Throws Error{device} where the graphics device is lost.
    void update(double now_s);
    // Something is under way: update() is to be called again soon, even without input.
    bool is_busy() const;

    // After Error{device} from here or from drawing, when whatever holds the renderer (screens) has been let go: makes
    // all of it anew, at most twice in a minute. False: it is not there yet and may be asked for again after a pause
    // (stage().has_renderer() is false), or it is lost again and again, and a notice says what helps.
    bool device_lost(const Error& error);

    double now_s() const;

    // What `work` asks of the workspace belongs to `operation`, with all that follows from it: see jobs.h. What goes
    // wrong becomes a notice as always, and is told to the operation.
    void perform(const std::shared_ptr<Operation>& operation, const std::function<void()>& work);
    const AllowedFolders* folders() const;  // that may be used for what is under way; nullptr: any
    // From now on, whoever asks; the source and the files that the program was started with stay allowed, whatever and
    // wherever they are.
    void limit_to(std::shared_ptr<const AllowedFolders> folders, const std::string& source,
                  const std::vector<std::filesystem::path>& files = {});

    // ---- what is open. Slow parts run as jobs; what fails becomes a notice.

    // A volume, series, scan TOML, raw file, session TOML, picture of ours (restores its view), transfer function. A
    // raw file that nothing describes becomes a proposal: see raw_proposal().
    // `assignments`: of a scan or raw file, over its own settings.
    void open(const std::filesystem::path& path, const std::vector<std::string>& assignments = {});
    void open_source(const SourceWanted& source);
    // How far that is, by the name of a source or file that was asked for; nothing: it is not being opened.
    std::optional<JobState> opening(const std::string& name) const;
    void close();
    bool is_open();
    void start_source();  // a job each; nothing where no live source is open
    void stop_source();
    LiveSession* live();  // what is open, where spectra make it; else nullptr

    // Another time point of the file that is open; nothing: a live source keeps none.
    std::optional<VolumeSource> time_point(std::int64_t step) const;
    std::vector<std::filesystem::path> recent() const;  // that may be opened, newest first
    struct RawProposal;                                 // ui/workspace/raw_proposal.h
    RawProposal* raw_proposal();                        // that waits for an answer; nullptr: none
    void accept_raw_proposal();                         // writes the TOML beside the file and opens it
    void drop_raw_proposal();

    // ---- settings: sections view, window always; scan, calibration, recipe, flow where a scan or source is open.

    View& view();  // for moving cameras: call view_edited() after
    void view_edited(Edit edit);
    const WindowSettings& window() const;
    const TissueSettings& tissue() const;
    bool has_effect(std::string_view key) const;  // as the other settings are; those of the view always
    const Scan* scan() const;                     // as it is set now; nullptr: no scan or source is open

    const std::vector<BoundField>& fields() const;
    const BoundField* field(std::string_view key) const;  // nullptr: not there now

    // Wrong values become a notice of the key's section and change nothing; returns whether it was taken.
    bool change(std::string_view key, const Value& value, Edit edit = Edit::done);
    // Several, that are undone as one; all of them or none. `title`: a key or section that stands for them.
    bool change_together(const std::string& title, const std::map<std::string, Value>& values, Edit edit = Edit::done);
    // The same for programs, which hear why not. Throws Error{bad_setting, bad_file}.
    void set(const std::string& title, const std::map<std::string, Value>& values, Edit edit = Edit::done);
    void end_edit();  // the next one is undone by itself
    bool reset(std::string_view key);
    // A curve that was drawn by hand, in the volume's values, takes the place of preset, file and range.
    bool set_transfer_curve(const TransferCurve& curve, Edit edit = Edit::done);

    bool can_undo() const;
    bool can_redo() const;
    // Something that is no setting: its values name states to which take_or_throw() goes, see Layering.
    void add_to_history(const Change& change);
    void undo();
    void redo();

    // ---- what is looked at in all panes: lengths from the centre of the volume (depth, A-scans, B-scans), um or
    // voxels
    const std::array<double, 3>& cross_um() const;
    void set_cross_um(const std::array<double, 3>& cross);

    // ---- keeping
    // Before anything is written there. Throws Error{output}: what is shown comes from this file.
    void check_kept_name(const std::filesystem::path& path) const;
    void save_session(const std::filesystem::path& path);  // everything as one TOML: a job
    void save_volume(const std::filesystem::path& path);   // what is shown now: a job
    // The last volumes of a live source that are kept, as one series; of the last `seconds`, 0: all. A job: pictures
    // and the source go on meanwhile.
    void save_kept(const std::filesystem::path& path, double seconds = 0);
    // Any other file that `work` writes on a job's thread.
    void write_beside(const std::filesystem::path& path, const std::function<void(Progress&)>& work);
    // The view at full quality, with all settings in it: jobs. Up to 4096 x 4096 pixels of 8 bits it is drawn between
    // the pictures of the window; others have a renderer of their own. PNG or TIFF, by the name.
    void take_screenshot(const std::filesystem::path& path);  // of 8 bits
    void take_picture(const std::filesystem::path& path, PictureBits bits);
    // How much of the picture that is drawn between those of the window is done, 0 to 1. Nothing: none is.
    std::optional<double> share_of_picture() const;
    // The same pictures for whoever takes them instead of a file, of up to 4096 x 4096 pixels.
    void draw_picture(const View& view, std::function<void(Image)> receive);
    // A B-scan, if none is named that under the cross, and a projection, with axes; PDF, SVG or PNG.
    void save_figure(const std::filesystem::path& path, FigureContent content, const FigureStyle& style);
    enum class TableKind { a_scan, echoes };  // under the cross; the strongest echo of each A-scan of the B-scan there
    void save_table(const std::filesystem::path& path, TableKind kind);
    // Of the view as it is now, beside the picture, by a renderer of its own: a job, which leaves a whole movie of what
    // was made where it is cancelled. The codec goes by the name.
    void make_movie(const std::filesystem::path& path, const MovieSpec& spec);
    void save_preset(const std::string& name);  // of the view, recipe and flow, by a name of one's own
    void use_preset(const std::string& name);
    std::vector<std::string> presets() const;

    // Where what gets a name by itself goes: window.record_folder, else the user's own.
    std::filesystem::path keeping_folder(UserFolder folder) const;
    // Of a recording that begins now, one a disk: keeping_folder(UserFolder::videos), then window.stripe_folders.
    std::vector<std::filesystem::path> recording_folders() const;
    // "echolux-2026-11-22-143005.png" there, or the next that is not there yet. `kind`: "session-".
    std::filesystem::path new_name(UserFolder folder, const std::string& kind, const std::string& ending) const;
    std::filesystem::path session_file() const;  // where it was saved, or restored from; empty: nowhere yet
    bool has_last_session() const;               // of the program that ran before
    void restore_last_session();

    // A recording begins under this name, or else one of its own in keeping_folder(UserFolder::videos).
    void start_recording(const std::filesystem::path& scan_toml = {});
    void stop_recording();
    const std::optional<KeptRecording>& last_recording() const;  // that was ended

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
