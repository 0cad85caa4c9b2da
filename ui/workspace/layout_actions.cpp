// Actions for panes and panels.
#include <algorithm>
#include <utility>

#include "ui/workspace/standard_actions.h"

namespace echolux {
namespace {

void add_layout(Workspace& work, const std::string& value, const std::string& title, const std::string& key) {
    add_action(
        work, "layout." + value, title, "Panes", {key}, [&work, value] { work.change("window.layout", value); },
        [&work, value] { return std::get<std::string>(work.field("window.layout")->get()) == value; });
}

// Changes the scale. The automatic value 0 counts as 1.
void scale(Workspace& work, double factor) {
    const double now = work.window().scale == 0 ? 1 : work.window().scale;
    work.change("window.scale", std::clamp(now * factor, 0.5, 4.0));
}

// Hides all panels, or shows them if all are hidden.
void show_panels(Workspace& work) {
    const bool any = work.window().left_panels || work.window().right_panels;
    work.change_together("window.panels", {{"window.left_panels", !any}, {"window.right_panels", !any}});
}

}  // namespace

void add_layout_actions(Workspace& work) {
    add_layout(work, "volume", "The volume alone", "Ctrl+1");
    add_layout(work, "volume-and-sections", "The volume and sections of it", "Ctrl+2");
    add_layout(work, "sections", "Sections alone", "Ctrl+3");
    add_layout(work, "alignment", "Alignment: spectra and A-scans", "Ctrl+4");
    add_switch(work, "panes.cross_hair", "Cross-hair", "Panes", {"X"}, "window.cross_hair");
    add_switch(work, "panes.light_handles", "Handles of lights", "Panes", {"Shift+H"}, "window.light_handles");
    add_switch(work, "window.time_line", "Time line of key frames", "Window", {"F8"}, "window.time_line");
    add_switch(work, "window.left_panels", "Panels on the left", "Window", {"F9"}, "window.left_panels");
    add_switch(work, "window.right_panels", "Panels on the right", "Window", {"F10"}, "window.right_panels");
    add_action(work, "window.panels", "All panels", "Window", {"Tab"}, [&work] { show_panels(work); });
    add_action(work, "window.larger", "Larger text and controls", "Window", {"Ctrl++", "Ctrl+="},
               [&work] { scale(work, 1.1); });
    add_action(work, "window.smaller", "Smaller text and controls", "Window", {"Ctrl+-"},
               [&work] { scale(work, 1 / 1.1); });
    add_action(work, "window.true_scale", "Text and controls as the screen says", "Window", {"Ctrl+0"},
               [&work] { work.change("window.scale", 0.0); });
    add_switch(work, "window.mouse_slicer", "Mouse as in 3D Slicer (off: ParaView)", "Window", {"Ctrl+M"},
               "window.mouse_slicer");
    add_action(work, "notices.dismiss", "Dismiss all notices", "Window", {"Ctrl+D"}, [&work] {
        for (const Notice& notice : work.notices().all()) work.notices().dismiss(notice.number);
    });
}

}  // namespace echolux
