// Actions for playback, time points and slices.
#include <cmath>
#include <utility>

#include "app/stage/kept_time.h"
#include "render/camera.h"
#include "ui/workspace/standard_actions.h"

namespace echolux {
namespace {

Timeline* time_of(Workspace& work) {
    return work.is_open() ? work.stage().exhibit()->timeline() : nullptr;
}

KeptTime* kept_of(Workspace& work) {
    return work.is_open() ? work.stage().exhibit()->kept_time() : nullptr;
}

// Effect of a key on a series, and on the kept volumes of a live source.
struct Deed {
    std::function<void(Timeline&)> series;
    std::function<void(KeptTime&)> kept = {};  // empty: no effect there
};
struct State {
    std::function<bool(const Timeline&)> series;
    std::function<bool(const KeptTime&)> kept = {};
};

void add(Workspace& work, std::string id, std::string title, std::vector<std::string> keys, const Deed& deed,
         const State& is_on = {}) {
    const auto kept = [&work, has_meaning = static_cast<bool>(deed.kept)] {
        return has_meaning ? kept_of(work) : nullptr;
    };
    Action action{.id = std::move(id),
                  .title = std::move(title),
                  .group = "Time",
                  .keys = std::move(keys),
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
            return is_on.kept && kept_of(work) != nullptr && is_on.kept(*kept_of(work));
        };
    }
    work.actions().add(std::move(action));
}

void add_step(Workspace& work, std::string id, std::string title, std::vector<std::string> keys, std::int64_t steps) {
    add(work, std::move(id), std::move(title), std::move(keys),
        {[steps](Timeline& time) { time.step_by(steps); }, [steps](KeptTime& kept) { kept.step_by(steps); }});
}

// Moves the cross-hair by whole voxels along depth (0), A-scans (1) or B-scans (2).
void add_slice_step(Workspace& work, const std::string& name, const std::string& title, std::size_t axis, int steps,
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
    add_slice_step(work, "next_b_scan", "Next B-scan", 2, 1, "Up");
    add_slice_step(work, "previous_b_scan", "Previous B-scan", 2, -1, "Down");
    add_slice_step(work, "b_scans_on", "Ten B-scans on", 2, 10, "Shift+Up");
    add_slice_step(work, "b_scans_back", "Ten B-scans back", 2, -10, "Shift+Down");
    add_slice_step(work, "deeper", "Deeper", 0, 1, "PageDown");
    add_slice_step(work, "shallower", "Less deep", 0, -1, "PageUp");
    add_slice_step(work, "next_a_scan", "Next A-scan", 1, 1, "Ctrl+Right");
    add_slice_step(work, "previous_a_scan", "Previous A-scan", 1, -1, "Ctrl+Left");
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
    add(work, "timeline.play", "Play or pause", {"Space"},
        {[&work](Timeline& time) { time.plays() ? time.pause() : time.play(work.now_s()); },
         [](KeptTime& kept) { kept.is_paused() ? kept.resume() : kept.pause(); }},
        {[](const Timeline& time) { return time.plays(); }, [](const KeptTime& kept) { return !kept.is_paused(); }});
    add_step(work, "timeline.next", "Next time point", {"Right"}, 1);
    add_step(work, "timeline.previous", "Previous time point", {"Left"}, -1);
    add_step(work, "timeline.on", "Ten time points on", {"Shift+Right"}, 10);
    add_step(work, "timeline.back", "Ten time points back", {"Shift+Left"}, -10);
    add(work, "timeline.first", "To the beginning", {"Home"},
        {[](Timeline& time) { time.go_to(time.first()); }, [](KeptTime& kept) { kept.go_to(0); }});
    add(work, "timeline.last", "To the end", {"End"},
        {[](Timeline& time) { time.go_to(time.last()); },
         [](KeptTime& kept) { kept.go_to(std::ssize(kept.volumes()) - 1); }});
    add(work, "timeline.loop", "Loop", {"Shift+L"}, {[](Timeline& time) { time.set_loops(!time.loops()); }},
        {[](const Timeline& time) { return time.loops(); }});
    add(work, "timeline.faster", "Play twice as fast", {"]"},
        {[&work](Timeline& time) { time.set_speed(2 * time.speed(), work.now_s()); }});
    add(work, "timeline.slower", "Play half as fast", {"["},
        {[&work](Timeline& time) { time.set_speed(time.speed() / 2, work.now_s()); }});
    add(work, "timeline.true_speed", "Play as fast as it was recorded", {"Backspace"},
        {[&work](Timeline& time) { time.set_speed(1, work.now_s()); }});
    add(work, "timeline.begin_here", "Set start point", {"I"},
        {[](Timeline& time) { time.set_ends(time.step(), time.last()); }});
    add(work, "timeline.end_here", "Set end point", {"O"},
        {[](Timeline& time) { time.set_ends(time.first(), time.step()); }});
    add(work, "timeline.all", "Play all of it", {"Shift+I"},
        {[](Timeline& time) { time.set_ends(0, time.steps() - 1); }});
    work.actions().add(
        {.id = "source.save_kept",
         .title = "Save the last volumes",
         .group = "Source",
         .keys = {"Ctrl+Shift+K"},
         .run = [&work] { work.save_kept(work.new_name(UserFolder::videos, "last-", ".nrrd")); },
         .is_possible = [&work] { return kept_of(work) != nullptr && !kept_of(work)->volumes().empty(); }});
    add_slice_actions(work);
}

}  // namespace echolux
