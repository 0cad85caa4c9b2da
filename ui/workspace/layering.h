// Surfaces between the layers of the displayed volume: found by a job, drawn above the sections, edited by hand, used
// for cuts and slabs, saved to files. Every change is an undo step.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/types.h"
#include "engine/layers/layers.h"
#include "ui/workspace/filtering.h"

namespace echolux {

class ViewSource;
class Workspace;
struct Cut;         // render/view/view.h
struct HeightMaps;  // render/scan_geometry.h
struct View;

// Key of surfaces in the undo history. Its value is the number of a state.
inline constexpr std::string_view surfaces_key = "layers.state";

// Prefix of surfaces in view.top_from and view.bottom_from: "layers:ILM".
inline constexpr std::string_view layer_prefix = "layers:";

class Layering {
  public:
    void update(Workspace& work);
    void forget();  // another document will be open

    // ---- finding
    bool can_find(Workspace& work) const;
    void find(Workspace& work);  // starts a job
    bool is_finding(Workspace& work) const;
    std::uint64_t job() const { return job_; }
    static std::vector<std::string> presets();
    static std::string default_preset();                         // that of the operation `segment`
    void take_preset(Workspace& work, const std::string& name);  // applies its settings as one undo step
    // Returns the preset whose settings a search uses; empty: none has all of them.
    std::string used_preset(Workspace& work) const;

    // Returns nullptr if there are no surfaces, or only those of another volume.
    const Surfaces* surfaces() const { return is_of_shown_ && now_.surfaces ? &*now_.surfaces : nullptr; }
    bool has_others() const { return now_.surfaces && !is_of_shown_; }  // there are surfaces of another time point
    const VolumeGrid& grid() const { return now_.grid; }
    bool has_unsaved() const { return now_.surfaces.has_value() && changes_ != saved_; }
    std::uint64_t changes() const { return changes_; }  // changes whenever the surfaces change

    // ---- editing
    bool edits = false;  // the pointer drags surfaces in sections
    void begin_drag(Workspace& work, std::size_t surface, std::int64_t a_scan, std::int64_t b_scan);
    void drag_to(Workspace& work, float row);
    void end_drag(Workspace& work);
    bool is_dragging() const { return drag_.has_value(); }
    std::optional<std::size_t> dragged_surface() const;

    // Used by undo and redo. Returns false if the state has been discarded; then the oldest available state is used.
    bool go_to(std::int64_t state);
    std::int64_t state() const { return state_; }

    // ---- derived data
    // Thickness of a layer [b_scan][a_scan], see thickness_between().
    const std::vector<float>& thickness(std::size_t upper, std::size_t lower);
    // Cuts the volume between two surfaces by setting view.top_from, view.bottom_from and their offsets.
    void show_between(Workspace& work, std::size_t upper, std::size_t lower);
    void show_all(Workspace& work);
    static std::map<std::string, Value> no_cut();  // settings that remove the cut
    // Returns the depths of a surface in um. A-scans without a position are hidden. Throws Error{bad_setting}.
    std::vector<float> heights(std::string_view name, bool is_top) const;
    // Returns the height maps of a cut that names surfaces, or nullopt if it names none. Throws Error{bad_setting} if
    // surfaces are combined with other sources.
    std::optional<HeightMaps> heights_of(const Cut& cut) const;
    // Updates a cut of `view` after the surfaces changed. Returns false if it names missing surfaces.
    bool renew_heights(ViewSource* shown, const View& view) const;

    // ---- files
    void save(Workspace& work, const std::filesystem::path& path);  // .csv or a volume file; starts a job
    void open(Workspace& work, const std::filesystem::path& path);  // reads surfaces; starts a job

  private:
    // The surfaces and the volume to which they belong.
    struct State {
        std::optional<Surfaces> surfaces;
        VolumeGrid grid{};
        Moment moment{};  // of that volume
    };
    // Transition between states: a drag, or surfaces that were found or read.
    struct Step {
        std::size_t surface = 0;
        std::vector<SurfaceEdit> edits;
        std::shared_ptr<const State> before{}, after{};  // nullptr for a drag

        std::size_t bytes() const;
    };
    struct Drag {
        std::size_t surface = 0;
        std::int64_t a_scan = 0, b_scan = 0;
        std::vector<SurfaceEdit> edits;  // applied to the surfaces now
    };

    void take(Workspace& work, State found);
    void add_step(Workspace& work, Step step);
    void have_changed() { ++changes_; }
    void have_moved(Workspace& work);  // called after surfaces were edited or found
    void drop_oldest_steps();
    void drop_drag();  // reverts the current drag

    State now_;
    bool is_of_shown_ = false;
    std::uint64_t opened_ = 0;
    std::uint64_t job_ = 0;
    std::uint64_t changes_ = 0, saved_ = 0;  // saved_: value of changes_ when the surfaces were saved or read
    std::optional<Drag> drag_;

    std::deque<Step> steps_;  // from first_state_ to the newest state
    std::int64_t first_state_ = 0, state_ = 0;

    std::vector<float> thickness_;
    std::uint64_t thickness_of_ = 0;
    std::size_t thickness_upper_ = 0, thickness_lower_ = 0;
};

}  // namespace echolux
