// The surfaces between layers of the volume that is shown: found by a job, drawn over the sections, edited by hand,
// used by cuts and slabs, saved. Every change of them is a step of the window's undo.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/types.h"
#include "engine/layers/edit_surface.h"

namespace echolux {

class Exhibit;
class Workspace;
struct Cut;         // render/view/cut.h
struct HeightMaps;  // render/heights.h
struct View;

// Under this key changes of surfaces stand in the undo history; the value is the number of a state.
inline constexpr std::string_view surfaces_key = "layers.state";

// What view.top_from and view.bottom_from call a surface: "layers:ILM".
inline constexpr std::string_view layer_prefix = "layers:";

class Layering {
  public:
    void update(Workspace& work);
    void forget();  // something else will be open

    // ---- finding
    bool can_find(Workspace& work) const;
    void find(Workspace& work);  // a job
    bool is_finding(Workspace& work) const;
    std::uint64_t job() const { return job_; }
    static std::vector<std::string> presets();
    void take_preset(Workspace& work, const std::string& name);  // its settings; one step of undo

    // nullptr: none, or of another volume than that which is shown.
    const Surfaces* surfaces() const { return is_of_shown_ && now_.surfaces ? &*now_.surfaces : nullptr; }
    bool has_others() const { return now_.surfaces && !is_of_shown_; }  // of another time point
    const VolumeGrid& grid() const { return now_.grid; }
    std::uint64_t changes() const { return changes_; }  // another number whenever they are others

    // ---- editing
    bool edits = false;  // the pointer drags surfaces in sections
    void begin_drag(Workspace& work, std::size_t surface, std::int64_t a_scan, std::int64_t b_scan);
    void drag_to(Workspace& work, float row);
    void end_drag(Workspace& work);
    bool is_dragging() const { return drag_.has_value(); }
    std::optional<std::size_t> dragged_surface() const;

    // By undo and redo. False: so old a state is no longer kept, and the oldest that is takes its place.
    bool go_to(std::int64_t state);
    std::int64_t state() const { return state_; }

    // ---- what follows from them
    // Distances between two of them, as thickness_between() has them.
    const std::vector<float>& thickness(std::size_t upper, std::size_t lower);
    // Cuts between two of them: view.top_from, view.bottom_from and what is counted from them.
    void show_between(Workspace& work, std::size_t upper, std::size_t lower);
    void show_all(Workspace& work);
    static std::map<std::string, Value> no_cut();  // what that sets
    // Depths in um for the name of a surface; A-scans without a place show nothing. Throws Error{bad_setting}.
    std::vector<float> heights(std::string_view name, bool is_top) const;
    // Maps of a cut that names nothing but surfaces, or nothing; nullopt: it names others too.
    std::optional<HeightMaps> heights_of(const Cut& cut) const;
    // What `view` cuts between them follows them. False: it names some that there are not.
    bool renew_heights(Exhibit* shown, const View& view) const;

    // ---- files
    void save(Workspace& work, const std::filesystem::path& path);  // .csv or a volume: a job
    void open(Workspace& work, const std::filesystem::path& path);  // of such a file: a job

  private:
    // From one state to the next: a drag, or surfaces that were found or read.
    struct State {
        std::optional<Surfaces> surfaces;
        VolumeGrid grid{};
        std::string mark{};  // of the volume that they belong to
    };
    struct Step {
        std::size_t surface = 0;
        std::vector<PlaceEdit> edits;
        std::shared_ptr<const State> before{}, after{};  // nullptr: a drag

        std::size_t bytes() const;
    };
    struct Drag {
        std::size_t surface = 0;
        std::int64_t a_scan = 0, b_scan = 0;
        std::vector<PlaceEdit> edits;  // that are shown now
    };

    void take(Workspace& work, State found);
    void add_step(Workspace& work, Step step);
    void have_changed() { ++changes_; }
    void have_moved(Workspace& work);  // after surfaces were edited or found again
    void drop_oldest_steps();
    void drop_drag();  // what it has moved so far is moved back

    State now_;
    bool is_of_shown_ = false;
    std::uint64_t opened_ = 0;
    std::uint64_t job_ = 0;
    std::uint64_t changes_ = 0;
    std::optional<Drag> drag_;

    std::deque<Step> steps_;  // from state first_state_ on
    std::int64_t first_state_ = 0, state_ = 0;

    std::vector<float> thickness_;
    std::uint64_t thickness_of_ = 0;
    std::size_t thickness_upper_ = 0, thickness_lower_ = 0;
};

}  // namespace echolux
