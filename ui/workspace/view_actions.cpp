// Actions for the view: mode, light, camera, transfer function and annotations.
#include <algorithm>
#include <utility>

#include "compute/plan/describe.h"
#include "ui/workspace/standard_actions.h"

namespace echolux {
namespace {

void add_view_switch(Workspace& work, const std::string& name, const std::string& title,
                     std::vector<std::string> keys) {
    add_switch(work, "view." + name, title, "View", std::move(keys), "view." + name);
}

// Adds one action per choice, and two that step through the choices.
void add_choices(Workspace& work, const std::string& name, const std::string& title, const std::string& next_key,
                 const std::string& previous_key) {
    const std::string key = "view." + name;
    const BoundField& field = *work.field(key);
    for (const std::string_view choice : field.choices) {
        const std::string value(choice);
        add_action(
            work, key + "." + value, title + ": " + value, "View", {}, [&work, key, value] { work.change(key, value); },
            [&work, key, value] { return std::get<std::string>(work.field(key)->get()) == value; });
    }
    const auto step = [&work, key](std::size_t steps) {
        const BoundField& bound = *work.field(key);
        const auto at = std::ranges::find(bound.choices, std::get<std::string>(bound.get()));
        const std::size_t index = static_cast<std::size_t>(at - bound.choices.begin()) + steps;
        work.change(key, std::string(bound.choices[index % bound.choices.size()]));
    };
    add_action(work, key + "_next", title + ": the next", "View", {next_key}, [step] { step(1); });
    const std::size_t last = field.choices.size() - 1;
    add_action(work, key + "_previous", title + ": the one before", "View", {previous_key},
               [step, last] { step(last); });
}

void add_directions(Workspace& work) {
    int digit = 1;
    for (const char* name : {"front", "back", "left", "right", "top", "bottom", "oblique"}) {
        add_action(work, std::string("camera.") + name, std::string("Look from: ") + name, "Camera",
                   {std::to_string(digit++)}, [&work, look = std::string(name)] { work.change("view.look", look); });
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
    for (const BoundField& field : work.fields()) {
        if (field.section == "view") defaults[field.key()] = field.default_value;
    }
    work.change_together("view", defaults);
}

void add_camera_actions(Workspace& work) {
    add_action(work, "camera.show_all", "Show the whole volume", "Camera", {"F", "R"}, [&work] { show_all(work); });
    add_action(work, "camera.closer", "Closer", "Camera", {"+", "="}, [&work] { zoom(work, 1.25); });
    add_action(work, "camera.farther", "Farther", "Camera", {"-"}, [&work] { zoom(work, 0.8); });
    add_action(work, "camera.turn_left", "Turn to the left", "Camera", {"Alt+Left"}, [&work] { turn(work, -15, 0); });
    add_action(work, "camera.turn_right", "Turn to the right", "Camera", {"Alt+Right"}, [&work] { turn(work, 15, 0); });
    add_action(work, "camera.turn_up", "Turn upwards", "Camera", {"Alt+Up"}, [&work] { turn(work, 0, 15); });
    add_action(work, "camera.turn_down", "Turn downwards", "Camera", {"Alt+Down"}, [&work] { turn(work, 0, -15); });
    add_action(
        work, "camera.orthographic", "Orthographic projection", "Camera", {"P"},
        [&work] {
            const bool is_flat = work.view().projection == Projection::orthographic;
            work.change("view.projection", std::string(is_flat ? "perspective" : "orthographic"));
        },
        [&work] { return work.view().projection == Projection::orthographic; });
    add_directions(work);
}

}  // namespace

void add_view_actions(Workspace& work) {
    add_choices(work, "mode", "Mode", "M", "Shift+M");
    add_choices(work, "preset", "Transfer function", "T", "Shift+T");
    add_view_switch(work, "lighting", "Light", {"L"});
    add_view_switch(work, "box", "Box around the volume", {"B"});
    add_view_switch(work, "axes", "Axes", {"A"});
    add_view_switch(work, "scale_bar", "Scale bar", {"S"});
    add_view_switch(work, "colour_bar", "Colour bar", {"C"});
    add_view_switch(work, "depth_ruler", "Depth ruler", {"D"});
    add_view_switch(work, "time_stamp", "Time stamp", {});
    add_action(work, "view.choose_range", "Automatic range of values", "View", {"Shift+R"}, [&work] {
        work.change_together("view.low", {{"view.low", lowest_value}, {"view.high", highest_value}});
    });
    add_action(work, "view.no_clipping", "Clear clipping", "View", {}, [&work] {
        const View whole;
        work.change_together("view.clip", {{"view.clip_low", whole.clip_low},
                                           {"view.clip_high", whole.clip_high},
                                           {"view.clip_planes", whole.clip_planes}});
    });
    add_action(work, "view.reset", "Reset view", "View", {"Ctrl+Shift+R"}, [&work] { reset_view(work); });
    add_camera_actions(work);
}

}  // namespace echolux
