// Opening and closing of documents. A job does the slow part; its last step displays the result and sets the settings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "app/open/file_kind.h"
#include "app/stage/open_exhibit.h"
#include "app/transfer/transfer_file.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source_kinds.h"
#include "engine/io/lower_case.h"
#include "engine/io/picture_file.h"
#include "ui/workspace/workspace_parts.h"

namespace echolux {
namespace {

// Older pictures of `echolux render` contain only their view.
std::vector<TomlEntry> entries_of_picture(const std::filesystem::path& path) {
    const PictureTexts texts = picture_texts(path);
    for (const char* name : {text_session, "view"}) {
        const auto text = texts.find(name);
        if (text != texts.end()) return toml_entries(text->second, path.string());
    }
    throw Error(ErrorCode::bad_file, "is a picture without stored settings", path.string(),
                "only pictures saved by Echolux restore their view");
}

bool is_of_exhibit(std::string_view key) {
    const std::string_view section = section_of(key);
    return section != "view" && section != "window" && section != "source" && section != "session" &&
           !is_tissue_section(section);
}

// Removes window settings of a foreign file: it may set the layout of the panes, but no folders or sizes.
void drop_window_settings(Values& values) {
    std::erase_if(values, [](const auto& entry) {
        return section_of(entry.first) == "window" && entry.first != "window.layout";
    });
}

// Returns the view that was stored in a recording.
Values look_of(const std::filesystem::path& file) {
    if (lower_ending(file) != ".toml") return {};
    std::vector<TomlEntry> entries = toml_entries(file);
    std::erase_if(entries, [](const TomlEntry& entry) {
        return section_of(entry.name) != "view" && section_of(entry.name) != "transfer";
    });
    return session_of(entries, file.string()).view_values;
}

std::string name_of(const WhatIsOpen& what) {
    return what.file.empty() ? what.source : std::filesystem::path(what.file).filename().string();
}

SeriesBudget series_budget(const WindowSettings& window) {
    constexpr double gb = 1e9;
    return {static_cast<std::int64_t>(gb * window.series_memory_gb),
            static_cast<std::int64_t>(gb * window.series_gpu_gb)};
}

SourceWanted source_of(const Opening& opening) {
    SourceWanted wanted;
    wanted.name = opening.what.source;
    wanted.scan = opening.what.scan;
    wanted.assignments = lines_of(opening.what.assignments);
    wanted.settings = opening.source;
    return wanted;
}

// Describes the effects of opening a source on the instrument, for the confirmation.
std::string words_of(const RestoredSession& session) {
    std::string words = "opens " + session.open.source;
    if (session.source.line_rate_hz > 0)
        words += fmt::format(", sets {:g} lines per second", session.source.line_rate_hz);
    if (session.source.exposure_us > 0)
        words += fmt::format(", sets an exposure of {:g} us", session.source.exposure_us);
    return words;
}

}  // namespace

std::string Workspace::Parts::scan_assignments() const {
    std::vector<std::string> list;
    for (const std::string& assignment : options.assignments) {
        if (is_of_exhibit(assignment)) list.push_back(assignment);
    }
    return text_of_lines(list);
}

std::string Workspace::Parts::assignments_for(const std::filesystem::path& file,
                                              const std::vector<std::string>& besides) const {
    if (!is_scan_name(file)) return "";
    std::vector<std::string> list = lines_of(scan_assignments());
    list.insert(list.end(), besides.begin(), besides.end());
    return text_of_lines(list);
}

void Workspace::Parts::open_path(const std::filesystem::path& given, const std::vector<std::string>& assignments) {
    std::error_code problem;
    const std::filesystem::path path = std::filesystem::absolute(given, problem).lexically_normal();
    if (!attempt("files", [&] { require_allowed(path); })) return;
    jobs.cancel(opening);
    opening_name = path.string();
    opening = jobs.start(
        "opening " + path.filename().string(),
        [this, asked = path, assignments](Progress& progress) -> Jobs::LastStep {
            std::filesystem::path file = asked;
            progress.begin("looking at the file", 0, "");
            switch (kind_of_file(file)) {
                case FileKind::exhibit:
                    return [this,
                            what = WhatIsOpen{.file = file.string(), .assignments = assignments_for(file, assignments)},
                            look = look_of(file)] {
                        start_opening({what, {}, look});
                    };
                case FileKind::session:
                    return [this, file, session = session_of(toml_entries(file), file.string())] {
                        session_file = file;
                        note_recent(file);
                        restore_foreign(session, file);
                    };
                case FileKind::picture:
                    return [this, file, session = session_of(entries_of_picture(file), file.string())] {
                        restore_foreign(session, file);
                    };
                case FileKind::preset:
                    return [this, preset = session_of(toml_entries(file), file.string())] { use_preset(preset); };
                case FileKind::transfer:
                    read_transfer(file);
                    return [this, file] { take({{"view.transfer", file.string()}}, "view.transfer", Edit::done); };
                case FileKind::spectra: return [this, file, guesses = guess_raw(file)] { propose(file, guesses); };
            }
            return {};
        },
        to("files"));
}

// Opens the session of the previous run, which needs no confirmation.
void Workspace::Parts::open_session(const std::filesystem::path& path) {
    attempt("files", [&] { restore(session_of(toml_entries(path), path.string())); });
}

// A new request cancels an earlier one that is still opening.
void Workspace::Parts::start_opening(const Opening& wanted) {
    const std::string place = wanted.what.file.empty() ? "source" : "files";
    const auto may_be_opened = [&] {
        refuse_while_recording();
        require_allowed(wanted.what);
    };
    if (!attempt(place, may_be_opened)) return;
    jobs.cancel(opening);
    opening_name = wanted.what.file.empty() ? wanted.what.source : wanted.what.file;
    const BackendChoice backend = stage.backend();
    opening = jobs.start(
        "opening " + name_of(wanted.what),
        [this, wanted, backend, budget = series_budget(book.window())](Progress& progress) -> Jobs::LastStep {
            MakeExhibit make =
                wanted.what.file.empty()
                    ? open_live_exhibit(source_of(wanted), backend, progress)
                    : open_exhibit(wanted.what.file, lines_of(wanted.what.assignments), backend, budget, progress);
            return [this, wanted, made = std::move(make)] { show(made, wanted); };
        },
        to(place));
}

// A recording ends only when it is stopped.
void Workspace::Parts::refuse_while_recording() const {
    if (!is_recording()) return;
    throw Error(ErrorCode::bad_setting, "a recording is under way", "recording", "stop it first (Ctrl+R)");
}

void Workspace::Parts::show(const MakeExhibit& make, const Opening& wanted) {
    refuse_while_recording();  // a recording may have started since
    close();
    stage.show(make);
    take_over(wanted);
    notices.settle("files");
    notices.settle("source");
    if (!wanted.what.file.empty()) note_recent(wanted.what.file);
    if (wanted.what.file.empty()) start_source();
}

void Workspace::Parts::take_over(const Opening& wanted) {
    open = wanted.what;
    book.set_source(wanted.source);
    book.set_scan(live() == nullptr ? std::nullopt : std::optional(live()->scan()));
    if (Timeline* time = stage.exhibit()->timeline()) time->go_to(wanted.what.step);
    set_cross({wanted.what.cross_um.at(0), wanted.what.cross_um.at(1), wanted.what.cross_um.at(2)});
    Values values = default_view_values();
    const WindowSettings usual;  // levels belong to the document
    values["window.section_low"] = usual.section_low;
    values["window.section_high"] = usual.section_high;
    const auto add = [&](const Values& more) {
        for (const auto& [key, value] : more) values.insert_or_assign(key, value);
    };
    add(wanted.view_values);
    const bool is_asked =
        wanted.view_values.empty() || !was_opened;  // the command line overrides a session only at the first opening
    if (is_asked) add(asked_view_values());
    was_opened = true;
    use(values);
    history = {};
}

// Returns true if the same file was opened within the last 30 s: opening it again after the question is the
// confirmation.
bool Workspace::Parts::is_agreed(const std::filesystem::path& from) {
    using namespace std::chrono;
    constexpr auto agrees_within = 30s;
    const auto now = steady_clock::now();
    const bool is_again = asked_about == from && now - asked_at < agrees_within;
    asked_about = is_again ? std::filesystem::path() : from;
    asked_at = now;
    return is_again;
}

// Sessions and pictures may come from anyone. They may not load plugins, and may change the settings of a camera only
// after the user's confirmation.
void Workspace::Parts::restore_foreign(RestoredSession session, const std::filesystem::path& from) {
    std::string& source = session.open.source;
    drop_window_settings(session.view_values);
    if (SourceName(source).kind == "plugin") {
        notices.note("source",
                     from.filename().string() +
                         " was made with a plugin, which has to be started explicitly: echolux view --source " +
                         source);
        source.clear();
    }
    if (SourceName(source).kind == "genicam" && !is_agreed(from)) {
        restore_look(session);
        notices.trouble("source", from.filename().string() + " " + words_of(session) +
                                      "; open it again within 30 s to allow that, or start it explicitly: echolux view "
                                      "--source " +
                                      source);
        return;
    }
    restore(session);
}

void Workspace::Parts::restore(const RestoredSession& session) {
    if (!session.open.is_nothing()) {
        WhatIsOpen what = session.open;
        what.assignments = text_of_lines(assignments_of(session));
        return start_opening({std::move(what), session.source, session.view_values});
    }
    restore_look(session);
}

void Workspace::Parts::restore_look(const RestoredSession& session) {
    Values values = default_view_values();
    for (const auto& [key, value] : session.view_values) values.insert_or_assign(key, value);
    use(values);
}

void Workspace::Parts::use_preset(const RestoredSession& preset) {
    Values wanted = preset.view_values;
    drop_window_settings(wanted);
    if (book.scan() != nullptr) wanted.insert(preset.scan.begin(), preset.scan.end());
    use(wanted);
}

// Heights depend on the displayed volume, so they are applied last.
void Workspace::Parts::use(const Values& values) {
    Values wanted = values;
    Values heights;
    if (auto node = wanted.extract("view.flatten"); !node.empty() && node.mapped() != Value(std::string())) {
        notices.note("view", "the volume is shown as recorded, not flattened");
    }
    for (const char* key : {"view.top_from", "view.bottom_from"}) {
        if (auto node = wanted.extract(key); !node.empty()) heights.insert(std::move(node));
    }
    if (take(wanted, "view", Edit::done)) take(heights, "view", Edit::done);
}

// Instruments take time to start and stop, while display continues. The last of several requests wins.
void Workspace::Parts::start_source() {
    if (live() == nullptr || live()->is_recorded()) return;
    jobs.start(
        "starting the source",
        [source = stage.exhibit()->shared_live()](Progress& progress) -> Jobs::LastStep {
            progress.begin("start", 0, "");
            source->start();
            return {};
        },
        to("source"));
}

void Workspace::Parts::stop_source() {
    if (live() == nullptr || live()->is_recorded()) return;
    jobs.start(
        "stopping the source",
        [source = stage.exhibit()->shared_live()](Progress& progress) -> Jobs::LastStep {
            progress.begin("stop", 0, "");
            source->stop();
            return {};
        },
        to("source"));
}

void Workspace::Parts::close() {
    stop_source();  // the job keeps the session alive until it has stopped
    stage.clear();
    open = {};
    history = {};
    cross_um = {};
    drop_pictures_to_keep();
    book.set_scan(std::nullopt);
    calibrating.forget();
    filtering.forget();
    layering.forget();
    for (const char* place :
         {"source", "scan", "calibration", "recipe", "flow", "view", "filter", "layers", "registration"})
        notices.close(place);
}

void Workspace::Parts::note_recent(const std::filesystem::path& path) {
    attempt("files", [&] { state.add_recent(path); });
}

void Workspace::open(const std::filesystem::path& path, const std::vector<std::string>& assignments) {
    parts_->open_path(path, assignments);
}

void Workspace::open_source(const SourceWanted& source) {
    std::vector<std::string> assignments = lines_of(parts_->scan_assignments());
    assignments.insert(assignments.end(), source.assignments.begin(), source.assignments.end());
    WhatIsOpen what{.source = source.name, .scan = source.scan.string(), .assignments = text_of_lines(assignments)};
    parts_->start_opening({std::move(what), source.settings});
}

std::optional<JobState> Workspace::opening(const std::string& name) const {
    if (name != parts_->opening_name) return {};
    const std::vector<JobState> jobs = parts_->jobs.states();
    const auto found = std::ranges::find(jobs, parts_->opening, &JobState::id);
    if (found == jobs.end() || found->is_cancelled) return {};
    return *found;
}

void Workspace::close() {
    parts_->jobs.cancel(parts_->opening);
    parts_->attempt("source", [&] {
        parts_->refuse_while_recording();
        parts_->close();
    });
}

bool Workspace::is_open() {
    return parts_->stage.exhibit() != nullptr;
}

void Workspace::start_source() {
    parts_->start_source();
}

void Workspace::stop_source() {
    parts_->stop_source();
}

LiveSession* Workspace::live() {
    return parts_->live();
}

std::vector<std::filesystem::path> Workspace::recent() const {
    std::vector<std::filesystem::path> files = parts_->state.recent();
    std::erase_if(files, [this](const std::filesystem::path& file) { return !parts_->is_allowed(file); });
    return files;
}

}  // namespace echolux
