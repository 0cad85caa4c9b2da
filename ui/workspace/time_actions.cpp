// Playing and stepping through time points, and through the slices of a volume.
#include <cmath>
#include <utility>

#include "render/camera.h"
#include "ui/workspace/standard_actions.h"

namespace echolux {
namespace {

Timeline* time_of(Workspace& work) {
    return work.is_open() ? work.stage().exhibit()->timeline() : nullptr;
}

void add(Workspace& work, std::string id, std::string title, std::vector<std::string> keys,
         const std::function<void(Timeline&)>& run, const std::function<bool(const Timeline&)>& is_on = {}) {
    Action action{.id = std::move(id),
                  .title = std::move(title),
                  .group = "Time",
                  .keys = std::move(keys),
                  .run = [&work, run] { run(*time_of(work)); },
                  .is_possible = [&work] { return time_of(work) != nullptr; }};
    if (is_on) action.is_on = [&work, is_on] { return time_of(work) != nullptr && is_on(*time_of(work)); };
    work.actions().add(std::move(action));
}

// The cross-hair, by whole voxels along depth (0), A-scans (1) or B-scans (2).
void add_step(Workspace& work, const std::string& name, const std::string& title, std::size_t axis, int steps,
              const std::string& key) {
    const auto grid = [&work] { return work.is_open() ? work.stage().exhibit()->grid() : std::nullopt; };
    work.actions().add({.id = "slice." + name,
                        .title = title,
                        .group = "Slices",
                        .keys = {key},
                        .run =
                            [&work, grid, axis, steps] {
                                std::array<double, 3> cross = work.cross_um();
                                cross[axis] += steps * voxel_edges(*grid())[axis];
                                work.set_cross_um(cross);
                            },
                        .is_possible = [grid] { return grid().has_value(); }});
}

void add_slice_actions(Workspace& work) {
    add_step(work, "next_b_scan", "Next B-scan", 2, 1, "Up");
    add_step(work, "previous_b_scan", "Previous B-scan", 2, -1, "Down");
    add_step(work, "b_scans_on", "Ten B-scans on", 2, 10, "Shift+Up");
    add_step(work, "b_scans_back", "Ten B-scans back", 2, -10, "Shift+Down");
    add_step(work, "deeper", "Deeper", 0, 1, "PageDown");
    add_step(work, "shallower", "Less deep", 0, -1, "PageUp");
    add_step(work, "next_a_scan", "Next A-scan", 1, 1, "Ctrl+Right");
    add_step(work, "previous_a_scan", "Previous A-scan", 1, -1, "Ctrl+Left");
    work.actions().add({.id = "slice.centre",
                        .title = "Cross-hair to the middle",
                        .group = "Slices",
                        .keys = {"Shift+X"},
                        .run =
                            [&work] {
                                work.set_cross_um({0, 0, 0});
                            },
                        .is_possible = [&work] { return work.is_open(); }});
}

}  // namespace

void add_time_actions(Workspace& work) {
    add(
        work, "timeline.play", "Play or pause", {"Space"},
        [&work](Timeline& time) { time.plays() ? time.pause() : time.play(work.now_s()); },
        [](const Timeline& time) { return time.plays(); });
    add(work, "timeline.next", "Next time point", {"Right"}, [](Timeline& time) { time.step_by(1); });
    add(work, "timeline.previous", "Previous time point", {"Left"}, [](Timeline& time) { time.step_by(-1); });
    add(work, "timeline.on", "Ten time points on", {"Shift+Right"}, [](Timeline& time) { time.step_by(10); });
    add(work, "timeline.back", "Ten time points back", {"Shift+Left"}, [](Timeline& time) { time.step_by(-10); });
    add(work, "timeline.first", "To the beginning", {"Home"}, [](Timeline& time) { time.go_to(time.first()); });
    add(work, "timeline.last", "To the end", {"End"}, [](Timeline& time) { time.go_to(time.last()); });
    add(
        work, "timeline.loop", "Loop", {"Shift+L"}, [](Timeline& time) { time.set_loops(!time.loops()); },
        [](const Timeline& time) { return time.loops(); });
    add(work, "timeline.faster", "Play twice as fast", {"]"},
        [&work](Timeline& time) { time.set_speed(2 * time.speed(), work.now_s()); });
    add(work, "timeline.slower", "Play half as fast", {"["},
        [&work](Timeline& time) { time.set_speed(time.speed() / 2, work.now_s()); });
    add(work, "timeline.true_speed", "Play as fast as it was recorded", {"Backspace"},
        [&work](Timeline& time) { time.set_speed(1, work.now_s()); });
    add(work, "timeline.begin_here", "Set start point", {"I"},
        [](Timeline& time) { time.set_ends(time.step(), time.last()); });
    add(work, "timeline.end_here", "Set end point", {"O"},
        [](Timeline& time) { time.set_ends(time.first(), time.step()); });
    add(work, "timeline.all", "Play all of it", {"Shift+I"},
        [](Timeline& time) { time.set_ends(0, time.steps() - 1); });
    add_slice_actions(work);
}

}  // namespace echolux
