#include "ui/workspace/workspace_state.h"

#include <algorithm>
#include <exception>

#include "app/open/open_volume.h"
#include "app/transfer/transfer_file.h"
#include "compute/error.h"
#include "engine/acquire/source.h"
#include "engine/io/file_name.h"
#include "engine/net/tcp.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

// Joins the texts of different sections.
std::string joined(const std::string& text, const std::string& more) {
    return text.empty() || more.empty() ? text + more : text + "\n" + more;
}

bool is_of_view_source(std::string_view key) {
    const std::string_view section = section_of(key);
    return section != "view" && section != "window" && section != "source" && section != "session" &&
           !is_tissue_section(section);
}

}  // namespace

WorkspaceState::WorkspaceState(const WorkspaceOptions& wanted)
    : options(wanted), state(wanted.state_folder), last_session(state.last_session()),
      viewer(wanted.device, wanted.backend) {
    restore_window();
    book.apply(asked_view_values(), [](const Change&) {});
    if (state.last_ended_in_order()) return;
    notices.note("files", "Echolux did not exit properly: the last state can be restored (session.restore_last)");
}

bool WorkspaceState::attempt(std::string_view place, const std::function<void()>& work) {
    try {
        work();
        return true;
    } catch (const Error& error) {
        notices.report_problem(place, error);
        if (jobs.request()) jobs.request()->fail(error);
    } catch (const std::exception& error) {  // from the standard library: out of memory, missing folder
        notices.report_problem(place, error.what());
        if (jobs.request()) jobs.request()->fail(Error(ErrorCode::bad_setting, error.what(), std::string(place)));
    }
    return false;
}

Jobs::Failed WorkspaceState::to(std::string_view place) {
    return [this, at = std::string(place)](const Error& error) { notices.report_problem(at, error); };
}

Values WorkspaceState::asked_view_values() const {
    View view;
    Settings settings;
    settings.bind("view", view);
    WindowSettings window;
    settings.bind("window", window);
    TissueSettings tissue;
    bind(settings, tissue);
    Values values;
    for (const std::string& assignment : options.assignments) {
        const bool is_of_look = section_of(assignment) == "view" || is_tissue_section(section_of(assignment));
        if (!is_of_look && !assignment.starts_with("window.section_")) continue;
        settings.set_assignment(assignment);
        const std::string key = assignment.substr(0, assignment.find('='));
        for (const BoundField& field : settings.fields()) {
            if (field.key() == key) values[key] = field.get();
        }
    }
    return values;
}

// Restores the window settings of the previous run and applies those of the command line.
void WorkspaceState::restore_window() {
    WindowSettings window;
    Settings settings;
    settings.bind("window", window);
    if (const std::filesystem::path last = state.last_session(); !last.empty()) {
        attempt("window", [&] {
            std::vector<TomlEntry> entries = toml_entries(last);
            std::erase_if(entries, [](const TomlEntry& entry) { return section_of(entry.name) != "window"; });
            settings.take(entries);
        });
    }
    for (const std::string& assignment : options.assignments) {
        if (section_of(assignment) != "window") continue;
        const std::string key = assignment.substr(0, assignment.find('='));
        Value before;
        for (const BoundField& field : settings.fields()) {
            if (field.key() == key) before = field.get();
        }
        settings.set_assignment(assignment);
        for (const BoundField& field : settings.fields()) {
            if (field.key() == key) asked_window.try_emplace(key, before, before).first->second.second = field.get();
        }
    }
    Values values;
    for (const BoundField& field : settings.fields()) values[field.key()] = field.get();
    attempt("window", [&] { book.apply(values, [](const Change&) {}); });
}

OpenDocument WorkspaceState::open_document() const {
    OpenDocument what = open;
    what.cross_um.assign(cross_um.begin(), cross_um.end());
    ViewSource* view_source = viewer.view_source();
    if (view_source != nullptr && view_source->timeline() != nullptr) what.step = view_source->timeline()->step();
    return what;
}

std::string WorkspaceState::session_text() const {
    return session_toml(open_document(), book.view(), book.toml());
}

// Returns the state to remember. Window settings from the command line apply to this run only: unless the user changed
// them, the previous values are stored.
std::string WorkspaceState::remembered_text() const {
    if (asked_window.empty()) return session_text();
    WindowSettings window = book.window();
    Settings settings;
    settings.bind("window", window);
    for (const auto& [key, values] : asked_window) {
        for (const BoundField& field : settings.fields()) {
            if (field.key() == key && field.get() == values.second) field.set(values.first);
        }
    }
    return session_toml(open_document(), book.view(), joined(book.toml({"window"}), settings.toml()));
}

std::string WorkspaceState::picture_text(TissueSettings shown) const {
    Settings settings;
    bind(settings, shown);
    const std::string text = joined(book.toml({"filter", "registration", "layers"}), settings.toml());
    return session_toml(open_document(), book.view(), text);
}

std::string WorkspaceState::look_text() const {
    const auto is_set = [](const BoundField& field) {
        return field.section == "view" && field.get() != field.default_value;
    };
    const View& view = book.view();
    std::string text = book.settings().toml_where(is_set);
    if (view.transfer.empty() && view.transfer_curve) text += "\n" + toml_of(view.transfer_curve);
    return text;
}

void WorkspaceState::note_recent(const std::filesystem::path& path) {
    attempt("files", [&] { state.add_recent(path); });
}

// Existing files may be replaced, because the dialog has asked; displayed files may not.
void WorkspaceState::check_recent_name(const std::filesystem::path& path) const {
    require_allowed(path);
    FileNames inputs = files_read(open.file, lines_of(open.assignments));
    add_files_of_view(book.view(), inputs);
    check_outputs({{path}}, inputs, true);
}

std::string WorkspaceState::scan_assignments() const {
    std::vector<std::string> list;
    for (const std::string& assignment : options.assignments) {
        if (is_of_view_source(assignment)) list.push_back(assignment);
    }
    return text_of_lines(list);
}

std::string WorkspaceState::assignments_for(const std::filesystem::path& file,
                                            const std::vector<std::string>& besides) const {
    if (!is_scan_name(file)) return "";
    std::vector<std::string> list = lines_of(scan_assignments());
    list.insert(list.end(), besides.begin(), besides.end());
    return text_of_lines(list);
}

std::string WorkspaceState::preset_text() const {
    std::string text = "# A preset for Echolux.\n\n" + book.settings().toml_where(is_of_preset);
    if (book.view().transfer.empty() && book.view().transfer_curve) text += "\n" + toml_of(book.view().transfer_curve);
    return text;
}

// ---- Limits for remote requests: only files in the allowed folders, including all files that these name, and only
// sources that open nothing else. The user who starts the program has no limits.

const AllowedFolders* WorkspaceState::folders() const {
    const std::shared_ptr<UserRequest>& request = jobs.request();
    return request && request->folders ? request->folders.get() : options.folders.get();
}

void WorkspaceState::require_allowed(const std::filesystem::path& path) const {
    if (folders() == nullptr) return;
    std::error_code problem;
    if (!is_allowed(path)) folders()->within(std::filesystem::absolute(path, problem));
}

bool WorkspaceState::is_allowed(const std::filesystem::path& path) const {
    if (folders() == nullptr) return true;
    std::error_code problem;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, problem);
    return std::ranges::count(allowed_files, whole) > 0 || folders()->hold(std::filesystem::absolute(path, problem));
}

// A scan in an allowed folder may name spectra and calibration files elsewhere, so every file that would be read is
// checked.
void WorkspaceState::require_all_read(const std::filesystem::path& file, const std::string& assignments) const {
    if (!file.empty()) require_allowed(file);  // check it before reading the names in it
    for (const std::filesystem::path& read : files_read(file, lines_of(assignments))) {
        try {
            require_allowed(read);
        } catch (const Error& error) {
            throw Error(error.code(), read.string() + " " + error.problem(), file.string(), error.remedy());
        }
    }
}

void WorkspaceState::require_allowed(const OpenDocument& what) const {
    if (folders() == nullptr) return;
    for (const std::string& name : {what.file, what.scan}) require_all_read(name, what.assignments);
    if (!what.source.empty() && what.source != allowed_source) require_allowed_source(what);
}

// Plugins are libraries that the program loads, and a network port accepts data from anyone who finds it: both must be
// requested on the command line. Shared memory belongs to the same user, and its content is not trusted.
void WorkspaceState::require_allowed_source(const OpenDocument& what) const {
    const SourceName source(what.source);
    const std::string remedy = "start it on this machine: echolux view --source " + what.source;
    if (source.kind == "plugin" || source.kind == "gentl")
        throw Error(ErrorCode::bad_setting, "plugins cannot be opened remotely", what.source, remedy);
    if (source.kind == "tcp") {
        const std::string address = source.rest.starts_with("//") ? source.rest.substr(2) : source.rest;
        if (parsed_address(address, what.source).is_this_machine_alone()) return;
        throw Error(ErrorCode::bad_setting, "ports for other machines cannot be opened remotely", what.source,
                    "listen on this machine alone, tcp://:5210, or " + remedy);
    }
    if (source.kind == "genicam" || source.kind == "shm") return;
    const bool is_file = source.kind == "replay" || source.rest.find_first_of("./") != std::string::npos;
    if (is_file) require_all_read(source.rest, what.assignments);
}

// Words such as "surface" are not file names. Files named by a scan are relative to its folder.
void WorkspaceState::require_allowed_files(const Values& wanted) const {
    if (folders() == nullptr) return;
    for (const auto& [key, value] : wanted) {
        const BoundField* field = book.field(key);
        const auto* name = std::get_if<std::string>(&value);
        if (field == nullptr || name == nullptr) continue;
        const bool is_of_view =
            field->section == "view" || field->section == "window" || is_tissue_section(field->section);
        const std::filesystem::path folder =
            is_of_view || book.scan() == nullptr ? "" : book.scan()->path.parent_path();
        if (is_file_name(*field, *name, folder) && field->get() != value) require_allowed(folder / *name);
    }
}

}  // namespace echolux
