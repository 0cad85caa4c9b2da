// All settings of the workspace in one registry: those of view, window and tissue processing always, those of a scan
// while one is open. Several are set together or not at all, and the resulting change can be undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/plan/described.h"
#include "engine/acquire/source.h"
#include "engine/layers/layers.h"
#include "engine/live/postprocessing.h"
#include "engine/registration/registration.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "engine/speckle/speckle_filter.h"
#include "render/view/curve.h"
#include "render/view/view.h"

namespace echolux {

// ---- Tissue: processing of the displayed volume (filtering, stabilisation, layers) and the display of each. Sections
// [filter], [registration] and [layers] of sessions and pictures. They never change files.

// Additional settings in [filter], beside SpeckleFilter.
struct FilterDisplay {
    bool shown = false;
};

// Additional settings in [registration], beside RegistrationSettings.
struct RegistrationDisplay {
    bool shown = false;
    std::int64_t reference = -1;  // negative: the volume's own neighbouring B-scans
    bool across_volumes = true;   // of live sources
};

// Additional settings in [layers], beside LayerRecipe.
struct LayerDisplay {
    bool shown = true;
    std::int64_t drag_a_scans = 16, drag_b_scans = 2;
};

struct TissueSettings {
    SpeckleFilter filter;
    FilterDisplay filter_display;
    RegistrationSettings registration;
    RegistrationDisplay registration_display;
    LayerRecipe layers;
    LayerDisplay layer_display;
};

// `tissue` must outlive the settings.
void bind(Settings& settings, TissueSettings& tissue);

// Returns the part that applies to live volumes.
LiveTissue live_tissue(const TissueSettings& tissue);

bool is_tissue_section(std::string_view section);

// Returns the values of a session that belong to these sections. Throws Error{bad_setting}.
TissueSettings tissue_of(const Values& values);

// ---- Size of pictures

// Sets the size of a view from the argument `size`, "640x480"; empty: keeps it. Throws Error{bad_setting}.
void set_size(View& view, std::string_view size);

// ---- Undo history: old and new values of changed settings. Unfinished edits of the same keys are merged to one step.

struct Change {
    std::string title;                           // "view.low"
    std::map<std::string, Value> before, after;  // by key
};

class UndoHistory {
  public:
    // Merges with the newest step if that has the same title and is still open. `closes` ends the step.
    void add(Change change, bool closes);
    void close() { is_open_ = false; }

    // Drops the newest steps that only set keys of `kept`, to other values: these were refused.
    void forget(const std::map<std::string, Value>& kept);

    bool can_undo() const { return next_ > 0; }
    bool can_redo() const { return next_ < changes_.size(); }

    // Return the step to apply. Call only if there is one.
    const Change& undo();
    const Change& redo();

  private:
    static constexpr std::size_t max_steps = 500;
    std::deque<Change> changes_;
    std::size_t next_ = 0;  // index of the step for redo()
    bool is_open_ = false;
};

// ---- Layout and behaviour of the window: section [window] of the settings.

// Panes shown beside the volume.
enum class PaneLayout { volume, volume_and_sections, sections, alignment };

// Sides of sections of medical volumes. Radiological: the patient's right is on the left of axial and coronal sections,
// as seen from the feet and from the front. Neurological: on the right. In both, the front is at the top of axial and
// on the left of sagittal sections, and the head is at the top of the others.
enum class SectionConvention { radiological, neurological };

// Colours of the window. Pictures have their own background in both.
enum class WindowTheme { dark, light };

struct WindowSettings {
    WindowTheme theme = WindowTheme::dark;
    double scale = 0;  // of text and controls; 0: as reported by the screen
    std::int64_t width = 1280, height = 800;
    PaneLayout layout = PaneLayout::volume_and_sections;
    bool left_panels = true, right_panels = true;
    double left_width = 320, right_width = 340;  // at scale 1
    std::vector<double> pane_split{0.62, 0.5};   // share of the volume's width; of the upper section's height
    std::string open_panels = "source,processing,flow,layers,view,transfer,time";  // expanded panels
    bool cross_hair = true;
    bool light_handles = true;  // in the volume pane, if lights have a direction
    bool time_line = false;     // of key frames, below the panes
    std::string key_frames;     // its key frames, in the file format: see key_frame_file.h
    bool link_levels = false;   // same value range for sections and volume
    SectionConvention section_convention = SectionConvention::radiological;  // of medical volumes
    double section_low = -1e12, section_high = 1e12;  // of sections alone; beyond all values: derived from the volume
    bool mouse_slicer = true;                         // true: navigation as in 3D Slicer; false: as in ParaView
    std::string record_subject, record_note;          // stored with recordings; the subject is also in their names
    std::int64_t record_volumes = 0;                  // length of recordings; 0: until stopped
    double record_s = 0;                              // the same in seconds
    std::string record_folder;                        // empty: the user's folders for videos, pictures and documents
    std::string stripe_folders;                       // on further disks, for striped recordings; separated by ";"
    std::string save_folder;                          // folder of the last saved file
    double autosave_s = 20;                           // if 0, never
    double series_memory_gb = 4, series_gpu_gb = 1;   // for time points loaded ahead
};

template <>
const std::vector<Field<WindowSettings>>& describe<WindowSettings>();

// ---- Registry

class SettingsBook {
  public:
    SettingsBook();
    SettingsBook(const SettingsBook&) = delete;
    SettingsBook& operator=(const SettingsBook&) = delete;

    View& view() { return view_; }
    const View& view() const { return view_; }
    const WindowSettings& window() const { return window_; }
    const SourceSettings& source() const { return source_; }
    const TissueSettings& tissue() const { return tissue_; }
    const Scan* scan() const { return scan_ ? &*scan_ : nullptr; }

    // Sets the open scan with its current settings; std::nullopt: none.
    void set_scan(std::optional<Scan> scan);
    void set_source(const SourceSettings& source);

    const Settings& settings() const { return settings_; }
    const std::vector<BoundField>& fields() const { return settings_.fields(); }
    const BoundField* field(std::string_view key) const;  // nullptr: currently unavailable

    // Changes with the settings of a section and the files that they name; 0 before the first change. Caches compare
    // it instead of values. Edits through view() count from the next view_edited().
    std::uint64_t revision(std::string_view section) const;
    std::uint64_t revision() const { return newest_revision_; }  // changes with any section

    // Sets all of `wanted`, including the files they name, or none. `bring_about` receives the change and may refuse it
    // by throwing. Returns the change, without values that are never undone (source, window size). Throws
    // Error{bad_setting, bad_file}.
    Change apply(const Values& wanted, const std::function<void(const Change&)>& bring_about);

    // Restores recipe, flow and calibration of `scan`, which must be the opened one. Returns the change.
    Change take_back(const Scan& scan);

    // Returns the change made through view() since the last call. Reverts an invalid one and throws Error{bad_setting}.
    Change view_edited();

    // Returns the part that sessions store: values that differ from their defaults, or from those with which the scan
    // was opened. Leaves out the sections in `without`.
    std::string toml(std::initializer_list<std::string_view> without = {}) const;
    // Returns scan settings changed since it was opened: "recipe.window=hann".
    std::vector<std::string> assignments() const;

  private:
    // Values of the wanted keys before a change, and what else setting them may replace: contents of files.
    struct Before {
        std::vector<std::pair<const BoundField*, Value>> values;
        std::optional<Curve> curve;
        std::optional<Channels> channels;
        std::shared_ptr<const SkyPicture> sky;
        std::optional<Calibration> calibration;
        std::vector<std::string> remarks;  // of the scan
    };

    void bind_all();
    void set(const Values& wanted);
    void take_curve(const Values& wanted);
    void take_calibration(const Values& wanted);
    Before before_setting(const Values& wanted) const;
    void note_files(Before& before, std::string_view key) const;
    Change change_since(const Before& before) const;
    void settle(const Before& before);
    void revert(const Before& before);
    Change edits_of_view() const;
    void revert_view();
    void bump(const std::string& section) { revisions_[section] = ++newest_revision_; }
    void bump_scan();
    bool is_kept(const BoundField& field) const;

    View view_;
    WindowSettings window_;
    SourceSettings source_;
    TissueSettings tissue_;
    std::optional<Scan> scan_;
    std::optional<Scan> as_opened_;
    Values scan_values_;  // as opened, by key
    Settings settings_;
    std::map<std::string, std::size_t, std::less<>> places_;  // index in fields(), by key
    // Described fields and curve of the view after the last valid change.
    View settled_view_;
    std::map<std::string, std::uint64_t, std::less<>> revisions_;  // by section
    std::uint64_t newest_revision_ = 0;
};

// Returns true if changes are undone. The facts of an open scan do not change, and sources are not undone.
bool is_undone(const BoundField& field);

// Returns true if presets store the setting.
bool is_of_preset(const BoundField& field);

// Returns the defaults of all fields of the view and of the tissue settings.
const Values& default_view_values();

}  // namespace echolux
