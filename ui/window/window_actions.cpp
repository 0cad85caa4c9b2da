// What only a window can do, as actions beside those of the workspace, so that menus, keys and the palette offer them
// too.
#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "ui/window/window_parts.h"

namespace echolux {
namespace {

// Where others have the key already, the action goes without.
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

    add(actions, {"window.palette", "Find a command…", "Help", {"Ctrl+K"}, [this] { palette.open(); }});
    add(actions, {"window.keys", "Keys and mouse", "Help", {"?", "F1"}, [this] { key_map.open(); }});
    add(actions, {"window.tour", "A short tour", "Help", {}, [this] { tour.open(); }});
    add(actions, {"window.about", "About Echolux", "Help", {}, [this] { about.open(); }});
}

void MainWindow::Parts::grant_file_wish() {
    if (state.outside_wish) native.show_outside(*std::exchange(state.outside_wish, std::nullopt));
    if (!state.file_wish) return;
    files.ask(work, *std::exchange(state.file_wish, std::nullopt));
    layout_at = 0;
}

}  // namespace echolux
