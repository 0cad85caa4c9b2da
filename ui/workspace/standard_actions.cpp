// Actions of every window, declared in ui/workspace/actions.h. Actions that could cost a recording or a measurement
// need more than one key.
#include "ui/workspace/actions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/open/patient_view.h"
#include "app/viewer/live_source.h"
#include "app/viewer/pane_view.h"
#include "app/viewer/view_source.h"
#include "compute/plan/describe.h"
#include "render/camera.h"
#include "ui/workspace/calibrating.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/layering.h"
#include "ui/workspace/losses.h"
#include "ui/workspace/recordings.h"
#include "ui/workspace/workspace.h"

namespace echolux {
namespace {

// Returns the live source (instrument or simulator), or nullptr.
LiveController* source_of(Workspace& work) {
    LiveController* live = work.viewer().live();
    return live != nullptr && !live->is_recorded() ? live : nullptr;
}

using Deed = std::function<void()>;
using State = std::function<bool()>;

const State always = [] { return true; };

// Adds an action; for the arguments see Action.
void add(Actions& actions, std::string id, std::string title, std::string group, std::vector<std::string> keys,
         std::string words, Deed run, State is_possible = always, State is_on = {}, int menu_place = 0) {
    actions.add({.id = std::move(id),
                 .title = std::move(title),
                 .group = std::move(group),
                 .keys = std::move(keys),
                 .words = std::move(words),
                 .run = std::move(run),
                 .is_possible = std::move(is_possible),
                 .is_on = std::move(is_on),
                 .menu_place = menu_place});
}

// Adds an action that sets `key` to one of its choices.
void add_choice(Workspace& work, std::string id, std::string title, std::string group, std::vector<std::string> keys,
                std::string words, const std::string& key, const std::string& value) {
    add(
        work.actions(), std::move(id), std::move(title), std::move(group), std::move(keys), std::move(words),
        [&work, key, value] { work.change(key, value); }, always,
        [&work, key, value] { return std::get<std::string>(work.settings().field(key)->get()) == value; });
}

// Adds an action that switches a setting on and off: `key`, else the one with the id of the action. People find it by
// the words of the setting.
void add_switch(Workspace& work, std::string id, std::string title, std::string group, std::vector<std::string> keys,
                std::string key = "") {
    if (key.empty()) key = id;
    const auto is_on = [&work, key] { return std::get<bool>(work.settings().field(key)->get()); };
    const auto change = [&work, key, is_on] { work.change(key, !is_on()); };
    add(work.actions(), std::move(id), std::move(title), std::move(group), std::move(keys),
        std::string(work.settings().field(key)->words), change, always, is_on);
}

// Returns true while a live source is recorded.
bool has_live_recording(Workspace& work) {
    return source_of(work) != nullptr && source_of(work)->is_recording();
}

void start_or_stop(Workspace& work) {
    source_of(work)->is_running() ? work.stop_source() : work.start_source();
}

// Saves to the file of the session. Without one, the window asks for a name; without a window, a name is generated.
void save_session(Workspace& work) {
    const std::filesystem::path known = work.session_file();
    if (!known.empty()) return work.save_session(known);
    if (work.actions().run("window.save_session")) return;
    work.save_session(work.new_name(UserFolder::documents, "session-", ".toml"));
}

void add_source_actions(Workspace& work) {
    Actions& actions = work.actions();
    const auto has_source = [&work] { return source_of(work) != nullptr; };
    const auto records = [&work] { return has_live_recording(work); };
    add(actions, "source.simulator", "Open the live simulator", "Source", {"Ctrl+L"}, "demo example test phantom",
        [&work] {
            SourceRequest wanted;
            wanted.name = "sim";
            work.open_source(wanted);
        });
    add(
        actions, "source.start_stop", "Start/stop source", "Source", {"Ctrl+Space"}, "run acquire live go halt pause",
        [&work] { start_or_stop(work); }, [has_source, records] { return has_source() && !records(); },
        [&work] { return source_of(work) != nullptr && source_of(work)->is_running(); });
    add(
        actions, "source.record", "Record (start/stop)", "Source", {"Ctrl+R"}, "capture save acquire grab rec",
        [&work, records] { records() ? work.recordings().stop() : work.recordings().start(); }, has_source, records);
    add(
        actions, "source.show_loss", "Show next loss", "Source", {}, "lost missing blocks where dropped",
        [&work] { work.losses().show_next(work.viewer()); }, [&work] { return work.losses().has_any(); });
    add(
        actions, "source.acknowledge_losses", "Acknowledge losses", "Source", {}, "lost missing blocks dismiss confirm",
        [&work] { work.losses().acknowledge(); }, [&work] { return work.losses().unseen() > 0; });
}

void add_file_actions(Workspace& work) {
    Actions& actions = work.actions();
    const auto is_open = [&work] { return work.viewer().is_open(); };
    add(actions, "file.new", "New", "File", {"Ctrl+N"}, "session empty start page defaults",
        [&work] { work.begin_new(); });
    add(
        actions, "file.open_last", "Reopen last file", "File", {"Ctrl+Shift+T"}, "recent reopen",
        [&work] { work.open(work.recent().front()); }, [&work] { return !work.recent().empty(); }, {}, 2);
    add(
        actions, "file.close", "Close", "File", {"Ctrl+W"}, "", [&work] { work.close(); }, is_open, {}, 40);
    add(
        actions, "file.screenshot", "Save screenshot", "File", {"F12"}, "screenshot image snapshot photo png",
        [&work] { work.exporting().save_picture(work.new_name(UserFolder::pictures, "", ".png")); }, is_open, {}, 20);
    add(
        actions, "file.cancel", "Cancel job", "File", {"Ctrl+."}, "", [&work] { work.jobs().cancel_all(); },
        [&work] { return !work.jobs().is_idle(); }, {}, 31);
    add(
        actions, "session.save", "Save session", "File", {"Ctrl+S"}, "", [&work] { save_session(work); }, always, {},
        10);
    add(
        actions, "session.restore_last", "Restore last session", "File", {}, "",
        [&work] { work.restore_last_session(); }, [&work] { return work.has_last_session(); }, {}, 30);
    add(
        actions, "edit.undo", "Undo", "Edit", {"Ctrl+Z"}, "", [&work] { work.undo(); },
        [&work] { return work.history().can_undo(); });
    add(
        actions, "edit.redo", "Redo", "Edit", {"Ctrl+Shift+Z", "Ctrl+Y"}, "", [&work] { work.redo(); },
        [&work] { return work.history().can_redo(); });
}

// ---- Actions for the view: mode, light, camera, transfer function and annotations.

void add_view_switch(Workspace& work, const std::string& name, const std::string& title,
                     std::vector<std::string> keys) {
    add_switch(work, "view." + name, title, "View", std::move(keys));
}

// Adds one action per choice, and two that step through the choices.
void add_choices(Workspace& work, const std::string& name, const std::string& title, const std::string& next_key,
                 const std::string& previous_key) {
    const std::string key = "view." + name;
    const BoundField& field = *work.settings().field(key);
    for (const std::string_view choice : field.choices) {
        const std::string value(choice);
        add_choice(work, key + "." + value, title + ": " + value, "View", {}, "", key, value);
    }
    const auto step = [&work, key](std::size_t steps) {
        const BoundField& bound = *work.settings().field(key);
        const auto at = std::ranges::find(bound.choices, std::get<std::string>(bound.get()));
        const std::size_t index = static_cast<std::size_t>(at - bound.choices.begin()) + steps;
        work.change(key, std::string(bound.choices[index % bound.choices.size()]));
    };
    add(work.actions(), key + "_next", title + ": next", "View", {next_key}, "", [step] { step(1); });
    const std::size_t last = field.choices.size() - 1;
    add(work.actions(), key + "_previous", title + ": previous", "View", {previous_key}, "",
        [step, last] { step(last); });
}

// View from a standard direction: of the patient, if the orientation is known.
std::map<std::string, Value> values_of_direction(Workspace& work, const std::string& direction) {
    const BoundField& looks = *work.settings().field("view.look");
    const auto look = static_cast<Look>(std::ranges::find(looks.choices, direction) - looks.choices.begin());
    const ViewSource* shown = work.viewer().view_source();
    const std::optional<Angles> of_patient = shown ? patient_angles(look, shown->orientation()) : std::nullopt;
    if (!of_patient) return {{"view.look", direction}};
    return {{"view.look", std::string("free")},
            {"view.azimuth_deg", of_patient->azimuth_deg},
            {"view.elevation_deg", of_patient->elevation_deg},
            {"view.roll_deg", of_patient->roll_deg}};
}

bool is_seen_from(Workspace& work, const std::string& direction) {
    return std::ranges::all_of(values_of_direction(work, direction), [&work](const auto& entry) {
        return work.settings().field(entry.first)->get() == entry.second;
    });
}

void add_directions(Workspace& work) {
    int digit = 1;
    const BoundField& looks = *work.settings().field("view.look");
    for (const std::string_view choice : std::span(looks.choices).subspan(1)) {  // without "free"
        const std::string look(choice);
        add(
            work.actions(), "camera." + look, "View from: " + look, "Camera", {std::to_string(digit++)}, "",
            [&work, look] { work.change_together("view.look", values_of_direction(work, look)); }, always,
            [&work, look] { return is_seen_from(work, look); });
    }
}

// Angles of a standard view become those of the free view.
void turn(Workspace& work, double azimuth_deg, double elevation_deg) {
    View& view = work.view();
    const Angles angles = angles_of(view);
    view.look = Look::free;
    view.azimuth_deg = std::remainder(angles.azimuth_deg + azimuth_deg, 360.0);
    view.elevation_deg = std::clamp(angles.elevation_deg + elevation_deg, -90.0, 90.0);
    view.roll_deg = angles.roll_deg;
    work.view_edited(Edit::done);
}

void zoom(Workspace& work, double factor) {
    work.change("view.zoom", std::clamp(work.view().zoom * factor, 0.05, 50.0));
}

void show_all(Workspace& work) {
    const View whole;
    work.change_together("view.camera", {{"view.zoom", whole.zoom},
                                         {"view.distance", whole.distance},
                                         {"view.target_um", whole.target_um},
                                         {"view.near_um", whole.near_um}});
}

void reset_view(Workspace& work) {
    std::map<std::string, Value> defaults;
    for (const BoundField& field : work.settings().fields()) {
        if (field.section == "view") defaults[field.key()] = field.default_value;
    }
    work.change_together("view", defaults);
}

void add_camera_actions(Workspace& work) {
    Actions& actions = work.actions();
    add(actions, "camera.show_all", "Fit volume", "Camera", {"F", "R"}, "fit reset home zoom",
        [&work] { show_all(work); });
    add(actions, "camera.closer", "Zoom in", "Camera", {"+", "="}, "zoom in larger", [&work] { zoom(work, 1.25); });
    add(actions, "camera.farther", "Zoom out", "Camera", {"-"}, "zoom out smaller", [&work] { zoom(work, 0.8); });
    add(actions, "camera.turn_left", "Rotate left", "Camera", {"Alt+Left"}, "", [&work] { turn(work, -15, 0); });
    add(actions, "camera.turn_right", "Rotate right", "Camera", {"Alt+Right"}, "", [&work] { turn(work, 15, 0); });
    add(actions, "camera.turn_up", "Rotate up", "Camera", {"Alt+Up"}, "", [&work] { turn(work, 0, 15); });
    add(actions, "camera.turn_down", "Rotate down", "Camera", {"Alt+Down"}, "", [&work] { turn(work, 0, -15); });
    add(
        actions, "camera.orthographic", "Orthographic projection", "Camera", {"P"}, "parallel projection",
        [&work] {
            const bool is_flat = work.view().projection == Projection::orthographic;
            work.change("view.projection", std::string(is_flat ? "perspective" : "orthographic"));
        },
        always, [&work] { return work.view().projection == Projection::orthographic; });
    add_directions(work);
}

void add_view_actions(Workspace& work) {
    Actions& actions = work.actions();
    add_choices(work, "mode", "Mode", "M", "Shift+M");
    add_choices(work, "preset", "Transfer function", "T", "Shift+T");
    add_view_switch(work, "lighting", "Light", {"L"});
    add_view_switch(work, "box", "Bounding box", {"B"});
    add_view_switch(work, "axes", "Axes", {"A"});
    add_view_switch(work, "scale_bar", "Scale bar", {"S"});
    add_view_switch(work, "colour_bar", "Colour bar", {"C"});
    add_view_switch(work, "depth_ruler", "Depth ruler", {"D"});
    add_view_switch(work, "time_stamp", "Time stamp", {});
    add(actions, "view.choose_range", "Auto window/level", "View", {"Shift+R"},
        "brightness contrast window level automatic auto scale", [&work] {
            work.change_together("view.low", {{"view.low", lowest_value}, {"view.high", highest_value}});
        });
    add(actions, "view.no_clipping", "Clear clipping", "View", {}, "crop cut whole", [&work] {
        const View whole;
        work.change_together("view.clip", {{"view.clip_low", whole.clip_low},
                                           {"view.clip_high", whole.clip_high},
                                           {"view.clip_planes", whole.clip_planes}});
    });
    add(actions, "view.reset", "Reset view", "View", {"Ctrl+Shift+R"}, "default", [&work] { reset_view(work); });
    add_camera_actions(work);
}

// ---- Actions for playback, time points and slices.

Timeline* time_of(Workspace& work) {
    return work.viewer().is_open() ? work.viewer().view_source()->timeline() : nullptr;
}

RecentTimeline* recent_of(Workspace& work) {
    return work.viewer().is_open() ? work.viewer().view_source()->recent_timeline() : nullptr;
}

// Effect of a key on a series, and on the kept volumes of a live source.
struct KeyEffect {
    std::function<void(Timeline&)> series;
    std::function<void(RecentTimeline&)> kept = {};  // empty: no effect there
};
struct TimeState {
    std::function<bool(const Timeline&)> series;
    std::function<bool(const RecentTimeline&)> kept = {};
};

void add(Workspace& work, std::string id, std::string title, std::vector<std::string> keys, std::string words,
         const KeyEffect& deed, const TimeState& is_on = {}) {
    const auto kept = [&work, has_meaning = static_cast<bool>(deed.kept)] {
        return has_meaning ? recent_of(work) : nullptr;
    };
    Action action{.id = std::move(id),
                  .title = std::move(title),
                  .group = "Time",
                  .keys = std::move(keys),
                  .words = std::move(words),
                  .run =
                      [&work, deed, kept] {
                          if (Timeline* time = time_of(work))
                              deed.series(*time);
                          else
                              deed.kept(*kept());
                      },
                  .is_possible = [&work, kept] { return time_of(work) != nullptr || kept() != nullptr; }};
    if (is_on.series) {
        action.is_on = [&work, is_on] {
            if (const Timeline* time = time_of(work)) return is_on.series(*time);
            return is_on.kept && recent_of(work) != nullptr && is_on.kept(*recent_of(work));
        };
    }
    work.actions().add(std::move(action));
}

void add_step(Workspace& work, std::string id, std::string title, std::vector<std::string> keys, std::int64_t steps) {
    add(work, std::move(id), std::move(title), std::move(keys), "",
        {[steps](Timeline& time) { time.step_by(steps); }, [steps](RecentTimeline& kept) { kept.step_by(steps); }});
}

// Moves the cross-hair by whole voxels along depth (0), A-scans (1) or B-scans (2).
void add_slice_step(Workspace& work, const std::string& name, const std::string& title, std::size_t axis, int steps,
                    const std::string& key) {
    const auto grid = [&work] { return work.viewer().is_open() ? work.viewer().view_source()->grid() : std::nullopt; };
    add(
        work.actions(), "slice." + name, title, "Slices", {key}, "",
        [&work, grid, axis, steps] {
            std::array<double, 3> cross = work.cross_um();
            cross[axis] += steps * voxel_edges(*grid())[axis];
            work.set_cross_um(cross);
        },
        [grid] { return grid().has_value(); });
}

void add_slice_actions(Workspace& work) {
    add_slice_step(work, "next_b_scan", "Next B-scan", 2, 1, "Up");
    add_slice_step(work, "previous_b_scan", "Previous B-scan", 2, -1, "Down");
    add_slice_step(work, "b_scans_on", "Forward ten B-scans", 2, 10, "Shift+Up");
    add_slice_step(work, "b_scans_back", "Back ten B-scans", 2, -10, "Shift+Down");
    add_slice_step(work, "deeper", "Next en-face slice", 0, 1, "PageDown");
    add_slice_step(work, "shallower", "Previous en-face slice", 0, -1, "PageUp");
    add_slice_step(work, "next_a_scan", "Next A-scan", 1, 1, "Ctrl+Right");
    add_slice_step(work, "previous_a_scan", "Previous A-scan", 1, -1, "Ctrl+Left");
    add(
        work.actions(), "slice.centre", "Centre cross-hair", "Slices", {"Shift+X"}, "",
        [&work] {
            work.set_cross_um({0, 0, 0});
        },
        [&work] { return work.viewer().is_open(); });
}

void add_time_actions(Workspace& work) {
    add(work, "timeline.play", "Play or pause", {"Space"}, "movie start stop run",
        {[&work](Timeline& time) { time.plays() ? time.pause() : time.play(work.now_s()); },
         [](RecentTimeline& kept) { kept.is_paused() ? kept.resume() : kept.pause(); }},
        {[](const Timeline& time) { return time.plays(); },
         [](const RecentTimeline& kept) { return !kept.is_paused(); }});
    add_step(work, "timeline.next", "Next time point", {"Right"}, 1);
    add_step(work, "timeline.previous", "Previous time point", {"Left"}, -1);
    add_step(work, "timeline.on", "Forward ten time points", {"Shift+Right"}, 10);
    add_step(work, "timeline.back", "Back ten time points", {"Shift+Left"}, -10);
    add(work, "timeline.first", "Go to start", {"Home"}, "",
        {[](Timeline& time) { time.go_to(time.first()); }, [](RecentTimeline& kept) { kept.go_to(0); }});
    add(work, "timeline.last", "Go to end", {"End"}, "",
        {[](Timeline& time) { time.go_to(time.last()); },
         [](RecentTimeline& kept) { kept.go_to(std::ssize(kept.volumes()) - 1); }});
    add(work, "timeline.loop", "Loop", {"Shift+L"}, "repeat", {[](Timeline& time) { time.set_loops(!time.loops()); }},
        {[](const Timeline& time) { return time.loops(); }});
    add(work, "timeline.faster", "Double playback speed", {"]"}, "speed",
        {[&work](Timeline& time) { time.set_speed(2 * time.speed(), work.now_s()); }});
    add(work, "timeline.slower", "Halve playback speed", {"["}, "speed",
        {[&work](Timeline& time) { time.set_speed(time.speed() / 2, work.now_s()); }});
    add(work, "timeline.true_speed", "Play at recorded speed", {"Backspace"}, "",
        {[&work](Timeline& time) { time.set_speed(1, work.now_s()); }});
    add(work, "timeline.begin_here", "Set start point", {"I"}, "",
        {[](Timeline& time) { time.set_ends(time.step(), time.last()); }});
    add(work, "timeline.end_here", "Set end point", {"O"}, "",
        {[](Timeline& time) { time.set_ends(time.first(), time.step()); }});
    add(work, "timeline.all", "Play whole range", {"Shift+I"}, "",
        {[](Timeline& time) { time.set_ends(0, time.steps() - 1); }});
    add(
        work.actions(), "source.save_kept", "Save kept volumes", "Source", {"Ctrl+Shift+K"}, "",
        [&work] { work.exporting().save_kept(work.new_name(UserFolder::videos, "last-", ".nrrd")); },
        [&work] { return recent_of(work) != nullptr && !recent_of(work)->volumes().empty(); });
    add_slice_actions(work);
}

// ---- Actions for panes and panels.

// Changes the scale. The automatic value 0 counts as 1.
void scale(Workspace& work, double factor) {
    const double now = work.settings().window().scale == 0 ? 1 : work.settings().window().scale;
    work.change("window.scale", std::clamp(now * factor, 0.5, 4.0));
}

// Hides all panels, or shows them if all are hidden.
void show_panels(Workspace& work) {
    const bool any = work.settings().window().left_panels || work.settings().window().right_panels;
    work.change_together("window.panels", {{"window.left_panels", !any}, {"window.right_panels", !any}});
}

void add_layout_actions(Workspace& work) {
    Actions& actions = work.actions();
    for (const std::string theme : {"dark", "light"})
        add_choice(work, "window.theme." + theme, "Theme: " + theme, "View", {}, "colours appearance bright night mode",
                   "window.theme", theme);
    const auto add_layout = [&work](const std::string& value, const char* title, const char* key, const char* words) {
        add_choice(work, "layout." + value, title, "Panes", {key}, words, "window.layout", value);
    };
    add_layout("volume", "Volume only", "Ctrl+1", "3d");
    add_layout("volume-and-sections", "Volume and sections", "Ctrl+2", "slices orthogonal mpr");
    add_layout("sections", "Sections only", "Ctrl+3", "slices orthogonal planes mpr");
    add_layout("alignment", "Alignment: spectra and A-scans", "Ctrl+4", "mirror fringe adjust spectrum align");
    add_switch(work, "panes.cross_hair", "Cross-hair", "Panes", {"X"}, "window.cross_hair");
    add_switch(work, "panes.light_handles", "Light handles", "Panes", {"Shift+H"}, "window.light_handles");
    add_switch(work, "window.time_line", "Time line of key frames", "Window", {"F8"});
    add_switch(work, "window.left_panels", "Left panels", "Window", {"F9"});
    add_switch(work, "window.right_panels", "Right panels", "Window", {"F10"});
    add(actions, "window.panels", "All panels", "Window", {"F7"}, "", [&work] { show_panels(work); });
    add(actions, "window.larger", "Increase UI scale", "Window", {"Ctrl++", "Ctrl+="}, "font size zoom",
        [&work] { scale(work, 1.1); });
    add(actions, "window.smaller", "Decrease UI scale", "Window", {"Ctrl+-"}, "font size zoom",
        [&work] { scale(work, 1 / 1.1); });
    add(actions, "window.true_scale", "Reset UI scale", "Window", {"Ctrl+0"}, "",
        [&work] { work.change("window.scale", 0.0); });
    add_switch(work, "window.mouse_slicer", "Mouse as in 3D Slicer (off: ParaView)", "Window", {"Ctrl+M"});
    add(actions, "notices.dismiss", "Dismiss all notices", "Window", {"Ctrl+D"}, "", [&work] {
        for (const Notice& notice : work.notices().all()) work.notices().dismiss(notice.number);
    });
}

// ---- Actions for the calibration of the open instrument, such as "calibrate.take_dark".

// Adds an action that records a spectrum. Running it again while lines are recorded stops the recording.
void add_taking(Workspace& work, const char* id, std::string title, std::string words, Spectrum which) {
    Calibrating& calibrating = work.calibrating();
    const auto is_on = [&calibrating, which] { return calibrating.taking() == which; };
    add(
        work.actions(), id, std::move(title), "Calibration", {}, std::move(words),
        [&calibrating, which, is_on] { is_on() ? calibrating.stop_taking() : calibrating.take(which); },
        [&work, &calibrating] { return calibrating.can_take(work); }, is_on);
}

void add_calibration_actions(Workspace& work) {
    Calibrating& calibrating = work.calibrating();
    Actions& actions = work.actions();
    add_taking(work, "calibrate.take_dark", "Acquire dark (no light)", "", Spectrum::dark);
    add_taking(work, "calibrate.take_background", "Acquire background (no sample)", "reference", Spectrum::background);
    add_taking(work, "calibrate.mirror_1", "Acquire mirror 1", "", Spectrum::mirror_1);
    add_taking(work, "calibrate.mirror_2", "Acquire mirror 2", "", Spectrum::mirror_2);
    add(
        actions, "calibrate.apply", "Apply mirror calibration", "Calibration", {}, "",
        [&work, &calibrating] {
            try {
                calibrating.apply(work);
            } catch (const Error& error) {
                work.notices().report_problem("calibration", error);
            }
        },
        [&work, &calibrating] { return calibrating.can_compute(work); });
    add(
        actions, "calibrate.dispersion", "Find dispersion of current B-scan", "Calibration", {}, "sharpen autofocus",
        [&work, &calibrating] { calibrating.search_dispersion(work); },
        [&work, &calibrating] { return calibrating.can_search(work); });
}

// ---- Actions for filtered and stabilised volumes and for surfaces between layers.

void add_tissue_actions(Workspace& work) {
    add_switch(work, "filter.show", "Show filtered volume", "Tissue", {}, "filter.shown");
    add_switch(work, "registration.show", "Show stabilised volume", "Tissue", {}, "registration.shown");
    Actions& actions = work.actions();
    add(
        actions, "registration.find", "Measure B-scan motion", "Tissue", {}, "register align saccade shift stabilise",
        [&work] { work.filtering().measure(work); }, [&work] { return work.filtering().can_measure(work); });
    add(
        actions, "layers.search", "Find layers", "Tissue", {}, "segment segmentation boundaries surfaces thickness",
        [&work] {
            const Action* panel = work.actions().find("panel.surfaces");  // registered by the window
            if (panel != nullptr && !panel->is_on()) panel->run();
            if (panel != nullptr) panel->show();
            work.layering().find(work);
        },
        [&work] { return work.layering().can_find(work); });
    add(
        actions, "layers.by_hand", "Edit surfaces by hand", "Tissue", {}, "",
        [&work] { work.layering().edits = !work.layering().edits; },
        [&work] { return work.layering().surfaces() != nullptr; }, [&work] { return work.layering().edits; });
}

}  // namespace

void add_standard_actions(Workspace& work) {
    add_file_actions(work);
    add_source_actions(work);
    add_time_actions(work);
    add_view_actions(work);
    add_layout_actions(work);
    add_calibration_actions(work);
    add_tissue_actions(work);
}

}  // namespace echolux
