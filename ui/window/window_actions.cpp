// Actions that need a window. Registered with those of the workspace, so that menus, keys and the palette offer them,
// too.
#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "ui/window/window_parts.h"

namespace echolux {
namespace {

// Adds an action without the keys that other actions already use.
void add(Actions& actions, Action action) {
    std::erase_if(action.keys, [&actions](const std::string& key) { return actions.for_key(key) != nullptr; });
    if (actions.find(action.id) == nullptr) actions.add(std::move(action));
}

}  // namespace

void MainWindow::Parts::add_actions() {
    Actions& actions = work.actions();
    const auto is_open = [this] { return work.stage().exhibit() != nullptr; };

    add(actions,
        {"window.open", "Open…", "File", {"Ctrl+O"}, [this] {
             files.ask(work, {FileWish::Kind::open, "Open", "", {}, [this](const auto& path) { work.open(path); }});
         }});
    add(actions, {"window.save_session", "Save session as…", "File", {"Ctrl+Shift+S"}, [this] {
                      files.ask(work, {FileWish::Kind::save,
                                       "Save the session: everything as one file",
                                       "session.toml",
                                       {".toml"},
                                       [this](const auto& path) { work.save_session(path); }});
                  }});
    add(actions, {"window.picture",
                  "Save picture as…",
                  "File",
                  {"Ctrl+Shift+P"},
                  [this] {
                      files.ask(work, {FileWish::Kind::save,
                                       "Save the picture at full quality, with all settings in it",
                                       "picture.png",
                                       {".png"},
                                       [this](const auto& path) { work.take_screenshot(path); }});
                  },
                  is_open});
    add(actions, {"window.quit", "Quit", "File", {"Ctrl+Q"}, [this] { ask_to_close(); }});

    add(actions, {"window.full_size",
                  "Volume to full size and back",
                  "Panes",
                  {},
                  [this] { panes.toggle_full_size(PaneKind::volume); },
                  is_open});
    add(actions, {"window.whole_sections",
                  "Sections as a whole",
                  "Panes",
                  {"Shift+F"},
                  [this] { panes.show_whole_sections(); },
                  is_open});
    add(actions, {"window.full_screen",
                  "Full screen",
                  "Window",
                  {"F11"},
                  [this] { native.set_full_screen(is_full_screen = !is_full_screen); },
                  [] { return true; },
                  [this] { return is_full_screen; }});

    add_measure_actions();
    add_panel_actions();
    add_source_actions();

    add(actions, {"window.palette", "Find a command…", "Help", {"Ctrl+K"}, [this] { palette.open(); }});
    add(actions, {"window.keys", "Keys and mouse", "Help", {"?", "F1"}, [this] { key_map.open(); }});
    add(actions, {"window.tour", "A short tour", "Help", {}, [this] { tour.open(); }});
    add(actions, {"window.about", "About Echolux", "Help", {}, [this] { about.open(); }});
}

// Each action starts or ends its tool and unfolds the panel with the result.
void MainWindow::Parts::add_measure_actions() {
    using Kind = MeasureTool::Kind;
    const auto is_open = [this] { return work.stage().exhibit() != nullptr; };
    const auto add_tool = [&](const char* id, const char* title, const char* key, Kind kind) {
        add(work.actions(), {id,
                             title,
                             "Measure",
                             {key},
                             [this, kind] {
                                 const bool is_on = state.measure.kind() == kind;
                                 state.measure.begin(is_on ? Kind::none : kind);
                                 if (!is_on && !PanelColumns::is_open(work, "measure"))
                                     PanelColumns::toggle(work, "measure");
                             },
                             is_open,
                             [this, kind] { return state.measure.kind() == kind; }});
    };
    add_tool("measure.distance", "Measure a distance", "Shift+D", Kind::distance);
    add_tool("measure.angle", "Measure an angle", "Shift+A", Kind::angle);
    add_tool("measure.probe", "Probe values at places", "Shift+V", Kind::probe);
    add_tool("measure.profile", "Profile along a line", "Shift+P", Kind::profile);
    add(work.actions(), {"measure.clear",
                         "Remove all measurements",
                         "Measure",
                         {},
                         [this] {
                             state.measure.forget();
                             const std::vector<double> none;
                             work.change_together("view.distances", {{"view.distances", none}, {"view.angles", none}});
                         },
                         is_open});
}

// Actions such as "Panel: Flow", which unfold a panel and show its side, or fold it. The palette never folds a panel
// that was searched for.
void MainWindow::Parts::add_panel_actions() {
    for (const auto& panel : columns.panels()) {
        if (panel->side() == PanelSide::bottom) continue;
        const auto is_shown = [this, one = panel.get()] {
            const WindowSettings& window = work.window();
            return PanelColumns::is_open(work, one->id()) &&
                   (one->side() == PanelSide::left ? window.left_panels : window.right_panels);
        };
        const std::string id(panel->id());
        add(work.actions(),
            {"panel." + id,
             "Panel: " + std::string(panel->title()),
             "Window",
             {},
             [this, one = panel.get(), is_shown] {
                 const bool was_shown = is_shown();
                 const bool is_left = one->side() == PanelSide::left;
                 if (!was_shown) work.change(is_left ? "window.left_panels" : "window.right_panels", true);
                 if (was_shown || !PanelColumns::is_open(work, one->id())) PanelColumns::toggle(work, one->id());
             },
             [this, one = panel.get()] { return work.stage().exhibit() != nullptr && one->is_there(work); },
             is_shown,
             [this, id] { state.wanted_panel = id; }});
    }
}

void MainWindow::Parts::add_source_actions() {
    for (const ShownScene& scene : state.scenes) {
        const auto open = [this, name = scene.name] {
            SourceWanted wanted;
            wanted.name = "sim:" + name;
            work.open_source(wanted);
        };
        add(work.actions(), {"source.sim." + scene.name, "Simulator: " + scene.title, "Source", {}, open});
    }
    add(work.actions(), {"source.plugin", "Open a plugin…", "Source", {}, [this] {
                             files.ask(work, {FileWish::Kind::open,
                                              "Open a plugin: the library of an instrument",
                                              "",
                                              {".so"},
                                              [this](const auto& path) {
                                                  SourceWanted wanted;
                                                  wanted.name = "plugin:" + path.string();
                                                  work.open_source(wanted);
                                              }});
                         }});
}

// Opens the dialogs and programs that panels have requested in this frame.
void MainWindow::Parts::grant_file_wish() {
    if (state.outside_wish) native.show_outside(*std::exchange(state.outside_wish, std::nullopt));
    if (!state.file_wish) return;
    files.ask(work, *std::exchange(state.file_wish, std::nullopt));
    layout_at = 0;
}

}  // namespace echolux
