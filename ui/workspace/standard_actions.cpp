#include "ui/workspace/standard_actions.h"

#include <utility>

#include "app/stage/live_session.h"

namespace echolux {
namespace {

// Returns the live source (instrument or simulator), or nullptr.
LiveSession* source_of(Workspace& work) {
    LiveSession* live = work.live();
    return live != nullptr && !live->is_recorded() ? live : nullptr;
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
    actions.add({.id = "source.simulator",
                 .title = "Open the live simulator",
                 .group = "Source",
                 .keys = {"Ctrl+L"},
                 .run = [&work] {
                     SourceWanted wanted;
                     wanted.name = "sim";
                     work.open_source(wanted);
                 }});
    actions.add({.id = "source.start_stop",
                 .title = "Start or stop the source",
                 .group = "Source",
                 .keys = {"Ctrl+Space"},
                 .run = [&work] { start_or_stop(work); },
                 .is_possible = [has_source, records] { return has_source() && !records(); },
                 .is_on = [&work] { return source_of(work) != nullptr && source_of(work)->is_running(); }});
    actions.add({.id = "source.record",
                 .title = "Record, or end the recording",
                 .group = "Source",
                 .keys = {"Ctrl+R"},
                 .run = [&work, records] { records() ? work.stop_recording() : work.start_recording(); },
                 .is_possible = has_source,
                 .is_on = records});
}

}  // namespace

void add_action(Workspace& work, std::string id, std::string title, std::string group, std::vector<std::string> keys,
                std::function<void()> run, std::function<bool()> is_on) {
    work.actions().add({.id = std::move(id),
                        .title = std::move(title),
                        .group = std::move(group),
                        .keys = std::move(keys),
                        .run = std::move(run),
                        .is_possible = [] { return true; },
                        .is_on = std::move(is_on)});
}

void add_switch(Workspace& work, std::string id, std::string title, std::string group, std::vector<std::string> keys,
                const std::string& key) {
    const auto is_on = [&work, key] { return std::get<bool>(work.field(key)->get()); };
    const auto change = [&work, key, is_on] { work.change(key, !is_on()); };
    add_action(work, std::move(id), std::move(title), std::move(group), std::move(keys), change, is_on);
}

bool has_live_recording(Workspace& work) {
    return source_of(work) != nullptr && source_of(work)->is_recording();
}

void add_file_actions(Workspace& work) {
    Actions& actions = work.actions();
    const auto is_open = [&work] { return work.is_open(); };
    actions.add({.id = "file.open_last",
                 .title = "Open the last file again",
                 .group = "File",
                 .keys = {"Ctrl+Shift+T"},
                 .run = [&work] { work.open(work.recent().front()); },
                 .is_possible = [&work] { return !work.recent().empty(); }});
    actions.add({.id = "file.close",
                 .title = "Close what is open",
                 .group = "File",
                 .keys = {"Ctrl+W"},
                 .run = [&work] { work.close(); },
                 .is_possible = is_open});
    actions.add({.id = "file.screenshot",
                 .title = "Keep a picture of the view",
                 .group = "File",
                 .keys = {"F12"},
                 .run = [&work] { work.take_screenshot(work.new_name(UserFolder::pictures, "", ".png")); },
                 .is_possible = is_open});
    actions.add({.id = "file.cancel",
                 .title = "Cancel what is under way",
                 .group = "File",
                 .keys = {"Ctrl+."},
                 .run = [&work] { work.jobs().cancel_all(); },
                 .is_possible = [&work] { return !work.jobs().is_idle(); }});
    actions.add(
        {.id = "session.save", .title = "Save the session", .group = "Session", .keys = {"Ctrl+S"}, .run = [&work] {
             save_session(work);
         }});
    actions.add({.id = "session.restore_last",
                 .title = "Restore the last session",
                 .group = "Session",
                 .keys = {},
                 .run = [&work] { work.restore_last_session(); },
                 .is_possible = [&work] { return work.has_last_session(); }});
    actions.add({.id = "edit.undo",
                 .title = "Undo",
                 .group = "Edit",
                 .keys = {"Ctrl+Z"},
                 .run = [&work] { work.undo(); },
                 .is_possible = [&work] { return work.can_undo(); }});
    actions.add({.id = "edit.redo",
                 .title = "Redo",
                 .group = "Edit",
                 .keys = {"Ctrl+Shift+Z", "Ctrl+Y"},
                 .run = [&work] { work.redo(); },
                 .is_possible = [&work] { return work.can_redo(); }});
}

void add_standard_actions(Workspace& work) {
    add_file_actions(work);
    add_source_actions(work);
    add_time_actions(work);
    add_view_actions(work);
    add_layout_actions(work);
}

}  // namespace echolux
