#include "ui/workspace/workspace.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/open/description.h"
#include "app/open/open_volume.h"
#include "app/open/show_opened.h"
#include "app/transfer/transfer_file.h"
#include "app/viewer/pane_view.h"
#include "app/viewer/view_source.h"
#include "app/viewer/viewer.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "engine/acquire/source.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/picture_file.h"
#include "engine/scan/raw_spectra.h"
#include "ui/workspace/actions.h"
#include "ui/workspace/calibrating.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/layering.h"
#include "ui/workspace/losses.h"
#include "ui/workspace/operating.h"
#include "ui/workspace/raw_proposal.h"
#include "ui/workspace/recordings.h"
#include "ui/workspace/user_folders.h"
#include "ui/workspace/workspace_state.h"

namespace echolux {

// A document to be opened, and the values of view and window with which it is displayed.
struct Opening {
    OpenDocument what;
    SourceSettings source;
    Values view_values{};
};

// State of the workspace alone. Jobs may use it, so it outlives those in WorkspaceState.
struct WorkspaceMembers {
    WorkspaceMembers(WorkspaceState& state, Workspace& work)
        : workspace(work), operating(state, work), recordings(state, work), raw(state, work),
          exporting(state, work, filtering) {}

    Workspace& workspace;
    UndoHistory history;
    Actions actions;
    bool is_cross_inside = false;  // true once it is within a volume

    std::uint64_t opening = 0;  // id of the job
    std::string opening_name;   // name of the source or file being opened
    std::uint64_t restart = 0;  // id of the job that opens the same source with other settings
    Values restart_values;
    Replacing replacing = Replacing::asks;              // of the last request
    std::vector<double> saved_distances, saved_angles;  // measurements of the document that are in a session
    bool was_opened = false;                            // whether anything was opened in this run
    std::filesystem::path asked_about;  // foreign session that needs a confirmation to open an instrument
    std::chrono::steady_clock::time_point asked_at;
    std::filesystem::path session_file;  // of the last save or restore

    Values wanted_heights;              // applied once a volume is available
    std::uint64_t finding_heights = 0;  // id of the job

    const std::array<std::filesystem::path, 3> own_folders{
        user_folder(UserFolder::pictures), user_folder(UserFolder::videos), user_folder(UserFolder::documents)};
    std::string autosaved;
    double autosaved_s = 0;
    Calibrating calibrating;
    Filtering filtering;
    Layering layering;
    Operating operating;
    Recordings recordings;
    Losses losses;
    RawProposals raw;
    std::deque<double> losses_s;  // recent losses of the graphics device
    Exporting exporting;
};

// The bases are destroyed in reverse order: jobs end first.
struct Workspace::Parts : WorkspaceMembers, WorkspaceState {
    Parts(Workspace& work, const WorkspaceOptions& wanted)
        : WorkspaceMembers(*static_cast<WorkspaceState*>(this), work), WorkspaceState(wanted) {}
    ~Parts();

    // ---- settings
    // `fails` is called if the values were accepted, but the job that applies them fails.
    std::optional<Change> take(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
                               const std::function<void()>& fails = {});
    Change take_or_throw(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
                         const std::function<void()>& fails = {});
    Change take_with_heights(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
                             const std::function<void()>& fails);
    void find_missing_heights();
    void drop_other_channels();
    Change set_values(const Values& wanted, const std::string& title, std::optional<Edit> recorded);

    // ---- what is open
    void open_path(const std::filesystem::path& path, const std::vector<std::string>& assignments);
    void open_session(const std::filesystem::path& path);
    void start_opening(const Opening& opening);
    void ask_before(const std::string& title, const std::string& confirm, const std::function<void()>& proceed);
    void end_document(const std::string& title, const std::string& confirm, const std::function<void()>& end);
    void open_now(const Opening& opening);
    void show(const ViewSourceFactory& make, const Opening& opening);
    void take_over(const Opening& opening);
    void note_saved();
    void restore(const RestoredState& session);
    void restore_look(const RestoredState& session);
    void restore_foreign(RestoredState session, const std::filesystem::path& from);
    bool is_agreed(const std::filesystem::path& from);
    void use_preset(const RestoredState& preset);
    void use(const Values& values);
    void close();
    void start_source();
    void stop_source();
    bool opens_with_repeats(const Values& wanted);

    bool has_session() const;  // whether there is a state worth remembering
    void autosave();

    void check_session();
    void settings_were_refused(const Scan& in_use);
    void revive();
    void set_cross(const std::array<double, 3>& wanted);
};

// Stores the final state of the program.
Workspace::Parts::~Parts() {
    if (state.is_there()) attempt("files", [&] { state.end_session(has_session() ? remembered_text() : ""); });
}

void Workspace::Parts::check_session() {
    if (viewer.live() == nullptr) return;
    for (const LiveEvent& event : viewer.live()->take_events()) {
        if (event.is_problem) {
            notices.report_problem("source", event.line, event.topic);
        } else {
            notices.note("source", event.line);
        }
    }
    if (const std::optional<Scan> in_use = viewer.live()->take_refusal()) settings_were_refused(*in_use);
}

// Reverts settings that the session rejected. The session reports the reason.
void Workspace::Parts::settings_were_refused(const Scan& in_use) {
    const Change change = book.take_back(in_use);
    if (change.after.empty()) return;
    history.forget(change.after);
    std::string keys;
    for (const auto& [key, value] : change.after) keys += (keys.empty() ? "" : ", ") + key;
    notices.report_problem(section_of(change.after.begin()->first), keys + ": rejected; the previous value is kept");
}

void Workspace::Parts::set_cross(const std::array<double, 3>& wanted) {
    const std::optional<VolumeGrid> grid =
        viewer.view_source() == nullptr ? std::nullopt : viewer.view_source()->grid();
    cross_um = wanted;  // used until a volume arrives
    is_cross_inside = grid.has_value();
    if (!grid) return;
    cross_um = kept_inside(wanted, *grid);
    if (LiveController* session = viewer.live()) session->look_at(voxel_index(cross_um[2], *grid, 2));
}

Workspace::Workspace(const WorkspaceOptions& options) : parts_(std::make_unique<Parts>(*this, options)) {
    add_standard_actions(*this);
}

Workspace::~Workspace() = default;

Viewer& Workspace::viewer() {
    return parts_->viewer;
}

Jobs& Workspace::jobs() {
    return parts_->jobs;
}

Notices& Workspace::notices() {
    return parts_->notices;
}

Actions& Workspace::actions() {
    return parts_->actions;
}

Calibrating& Workspace::calibrating() {
    return parts_->calibrating;
}

Filtering& Workspace::filtering() {
    return parts_->filtering;
}

Layering& Workspace::layering() {
    return parts_->layering;
}

Operating& Workspace::operating() {
    return parts_->operating;
}

Exporting& Workspace::exporting() {
    return parts_->exporting;
}

Recordings& Workspace::recordings() {
    return parts_->recordings;
}

Losses& Workspace::losses() {
    return parts_->losses;
}

RawProposals& Workspace::raw() {
    return parts_->raw;
}

const SettingsBook& Workspace::settings() const {
    return parts_->book;
}

UndoHistory& Workspace::history() {
    return parts_->history;
}

void Workspace::limit_to(std::shared_ptr<const AllowedFolders> folders, const std::string& source,
                         const std::vector<std::filesystem::path>& files) {
    parts_->options.folders = std::move(folders);
    parts_->allowed_source = source;
    std::error_code problem;
    for (const std::filesystem::path& file : files) {
        parts_->allowed_files.push_back(std::filesystem::weakly_canonical(file, problem));
    }
}

const AllowedFolders* Workspace::folders() const {
    return parts_->folders();
}

double Workspace::now_s() const {
    return parts_->now_s;
}

bool Workspace::is_busy() const {
    return !parts_->jobs.is_idle() || !parts_->state.is_idle() || !parts_->exporting.is_idle() ||
           parts_->raw.is_stale() || parts_->filtering.is_running();
}

void Workspace::update(double now_s) {
    Parts& parts = *parts_;
    parts.now_s = std::max(parts.now_s, now_s);
    parts.jobs.collect();
    parts.exporting.collect();
    // A lost device must be handled by the window, whose screens use it. All other errors become notices.
    const auto watch = [&](std::string_view place, const auto& work) {
        try {
            work();
        } catch (const Error& error) {
            if (error.code() == ErrorCode::device) throw;
            parts.notices.report_problem(place, error);
        } catch (const std::exception& error) {  // from the standard library
            parts.notices.report_problem(place, error.what());
        }
    };
    if (ViewSource* view_source = parts.viewer.view_source()) {
        // The order matters: volumes first, then data that is derived from them.
        watch("files", [&] { view_source->update(parts.now_s); });
        for (const std::string& line : view_source->take_problems()) parts.notices.report_problem("files", line);
        if (!parts.is_cross_inside) parts.set_cross(parts.cross_um);
        watch("filter", [&] { parts.filtering.update(*this); });
        watch("layers", [&] { parts.layering.update(*this); });
    }
    parts.find_missing_heights();
    parts.drop_other_channels();
    parts.check_session();
    parts.losses.update(parts.viewer);
    // One count in all places: that of the session's event grows old.
    if (parts.losses.unseen() > 0) parts.notices.restate("source", "lost", parts.losses.text());
    watch("calibration", [&] { parts.calibrating.update(*this); });
    parts.raw.update();
    parts.recordings.update();
    if (!parts.filtering.is_running()) watch("export", [&] { parts.exporting.draw_pending_screenshot(); });
    parts.autosave();
    for (const Error& problem : parts.state.take_problems()) parts.notices.report_problem("files", problem);
}

bool Workspace::device_lost(const Error& error) {
    // A device lost for the third time within a minute is not restored, because it would probably be lost again.
    constexpr double counted_s = 60;
    constexpr std::size_t max_losses = 2;
    Parts& parts = *parts_;
    if (parts.viewer.has_renderer()) parts.notices.report_problem("display", error);  // report it only once
    std::deque<double>& losses = parts.losses_s;
    while (!losses.empty() && parts.now_s - losses.front() > counted_s) losses.pop_front();
    if (losses.size() < max_losses) {
        if (!parts.attempt("display", [&] { parts.revive(); })) return false;
        losses.push_back(parts.now_s);
        parts.notices.settle("display");
        parts.notices.note("display", "the graphics device was lost and has been recovered");
        return true;
    }
    parts.notices.report_problem("display",
                                 Error(ErrorCode::device, "the graphics device is lost repeatedly", "display",
                                       "save the session (Ctrl+S) and restart with another device (--device) or a "
                                       "newer driver; recordings continue"));
    return false;
}

// Heights were stored on the lost device and are found again.
void Workspace::Parts::revive() {
    exporting.drop_pending_screenshots();
    viewer.revive();
    Values heights{{"view.top_from", book.view().top_from}, {"view.bottom_from", book.view().bottom_from}};
    book.view().top_from.clear();
    book.view().bottom_from.clear();
    book.view_edited();
    take(heights, "view", std::nullopt);
}

const std::array<double, 3>& Workspace::cross_um() const {
    return parts_->cross_um;
}

void Workspace::set_cross_um(const std::array<double, 3>& cross) {
    parts_->set_cross(cross);
}

// ---- Settings: checking, applying and reverting changes

namespace {

constexpr std::array height_keys{"view.top_from", "view.bottom_from"};

bool changes(const Values& wanted, const char* key, const SettingsBook& book) {
    const auto found = wanted.find(key);
    return found != wanted.end() && found->second != book.field(key)->get();
}

Values without_cut(Values wanted) {
    for (const auto& [key, value] : Layering::no_cut()) wanted[key] = value;
    return wanted;
}

// The window cannot flatten, because this would need a second volume on the device.
void refuse_flattening(const Values& wanted) {
    const auto found = wanted.find("view.flatten");
    if (found == wanted.end() || found->second == Value(std::string())) return;
    throw Error(ErrorCode::bad_setting, "applies to saved pictures, not to the window", "view.flatten",
                "echolux render --flatten surface; here view.top_from and view.bottom_from count from the surface");
}

}  // namespace

std::optional<Change> Workspace::Parts::take(const Values& wanted, const std::string& title,
                                             std::optional<Edit> recorded, const std::function<void()>& fails) {
    std::optional<Change> made;
    attempt(section_of(title), [&] { made = take_or_throw(wanted, title, recorded, fails); });
    return made;
}

Change Workspace::Parts::take_or_throw(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
                                       const std::function<void()>& fails) {
    if (const auto step = wanted.find(std::string(surfaces_key)); step != wanted.end()) {
        if (!layering.go_to(std::get<std::int64_t>(step->second)))
            notices.note("layers", "cannot undo further: earlier surfaces were discarded");
        // The surfaces of this step may lack a name that the cut uses.
        if (!layering.renew_heights(viewer.view_source(), book.view())) take(Layering::no_cut(), "view", std::nullopt);
        return {};
    }
    const bool moves_heights =
        std::ranges::any_of(height_keys, [&](const char* key) { return changes(wanted, key, book); });
    if (std::ranges::any_of(height_keys, [&](const char* key) { return wanted.contains(key); })) wanted_heights.clear();
    refuse_flattening(wanted);
    require_allowed_files(wanted);
    if (moves_heights) return take_with_heights(wanted, title, recorded, fails);
    if (recorded && opens_with_repeats(wanted)) return {};
    Change change = set_values(wanted, title, recorded);
    notices.settle(section_of(title));
    return change;
}

Change Workspace::Parts::set_values(const Values& wanted, const std::string& title, std::optional<Edit> recorded) {
    // The live session receives changed settings of the scan and may refuse them.
    Change change = book.apply(wanted, [this](const Change& made) {
        const auto is_of_session = [](const auto& entry) { return is_of_scan(entry.first); };
        LiveController* session = viewer.live();
        if (session != nullptr && std::ranges::any_of(made.after, is_of_session)) session->change(*book.scan());
    });
    change.title = title;
    if (recorded) history.add(change, *recorded == Edit::done);
    return change;
}

// Applies a cut whose heights must be searched or read first, in a job with the current volume. The last of several
// requests wins.
Change Workspace::Parts::take_with_heights(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
                                           const std::function<void()>& fails) {
    jobs.cancel(finding_heights);
    Cut cut = book.view();
    const auto name_in = [&](const char* key, const std::string& now) {
        const auto found = wanted.find(key);
        return found == wanted.end() ? now : std::get<std::string>(found->second);
    };
    cut.top_from = name_in("view.top_from", cut.top_from);
    cut.bottom_from = name_in("view.bottom_from", cut.bottom_from);
    cut.flatten.clear();
    if (!has_height_maps(cut)) {
        Change change = set_values(wanted, title, recorded);
        wanted_heights.clear();
        if (viewer.view_source() != nullptr) viewer.view_source()->set_heights({});
        return change;
    }
    if (viewer.view_source() == nullptr) {
        throw Error(ErrorCode::bad_setting, "there is no volume to find a surface in",
                    "view.top_from, view.bottom_from", "open one first");
    }
    if (viewer.view_source()->grid()) {
        std::optional<HeightMaps> maps;
        try {
            maps = layering.heights_of(cut);
        } catch (const Error&) {  // an undo step may name surfaces of another volume
            if (recorded) throw;
            return take_with_heights(without_cut(wanted), title, recorded, fails);
        }
        if (maps) {
            viewer.view_source()->set_heights(*maps);
            return set_values(wanted, title, recorded);
        }
    }
    const PendingVolume coming = viewer.view_source()->begin_reading();
    if (!coming) {
        wanted_heights = wanted;
        return {};
    }
    finding_heights = jobs.start(
        "finding heights",
        [this, cut, shown = viewer.view_source()->life(), wanted, title, recorded, coming](Progress& progress) {
            progress.begin("heights", 0, "");
            Volume volume = *coming();
            HeightMaps maps = prepared_heights(cut, volume);
            return [this, shown, wanted, title, recorded, found = std::move(maps)] {
                if (shown.expired()) return;
                viewer.view_source()->set_heights(found);
                set_values(wanted, title, recorded);
            };
        },
        [this, fails](const Error& error) {
            notices.report_problem("view", error);
            if (fails) fails();
        });
    return {};
}

// A view may use height maps only while they are on the device. If they are missing, the view uses the ends of the
// volume until they have been found.
void Workspace::Parts::find_missing_heights() {
    ViewSource* view_source = viewer.view_source();
    if (view_source == nullptr) return wanted_heights.clear();
    View& view = book.view();
    if (has_height_maps(view) && !view_source->has_heights()) {
        wanted_heights = {{"view.top_from", view.top_from}, {"view.bottom_from", view.bottom_from}};
        view.top_from.clear();
        view.bottom_from.clear();
        book.view_edited();
    }
    if (!wanted_heights.empty() && view_source->grid()) take(std::exchange(wanted_heights, {}), "view", std::nullopt);
}

// Removes channels whose voxel grid differs from that of the displayed volume, because rendering would fail.
void Workspace::Parts::drop_other_channels() {
    const ViewSource* view_source = viewer.view_source();
    const std::optional<VolumeGrid> grid = view_source != nullptr ? view_source->grid() : std::nullopt;
    if (!grid || view_source->loading()) return;  // a volume being loaded may be a coarse one
    try {
        check_channels(book.view(), *grid, view_source->name());
    } catch (const Error& error) {
        Values none;
        for (std::size_t i = 0; i < book.view().channels.size(); ++i)
            none["view." + channel_key(i, "file")] = std::string();
        take(none, "view", std::nullopt);
        notices.report_problem("view", error);
    }
}

std::optional<Change> Workspace::change(std::string_view key, const Value& value, Edit edit) {
    return parts_->take({{std::string(key), value}}, std::string(key), edit);
}

std::optional<Change> Workspace::change_together(const std::string& title, const Values& values, Edit edit) {
    return parts_->take(values, title, edit);
}

Change Workspace::set(const std::string& title, const Values& values, Edit edit) {
    return parts_->take_or_throw(values, title, edit);
}

std::optional<Change> Workspace::reset(std::string_view key) {
    const BoundField* field = parts_->book.field(key);
    return field == nullptr ? std::nullopt : change(key, Value(field->default_value));
}

std::optional<Change> Workspace::set_transfer_curve(const TransferCurve& curve, Edit edit) {
    const std::string key(curve_key);
    return parts_->take({{key, toml_of(curve)},
                         {"view.transfer", std::string()},
                         {"view.low", lowest_value},
                         {"view.high", highest_value}},
                        key, edit);
}

void Workspace::view_edited(Edit edit) {
    parts_->attempt("view", [&] {
        Change change = parts_->book.view_edited();
        change.title = "view";
        parts_->history.add(std::move(change), edit == Edit::done);
    });
}

// Keeps the step if it cannot be applied, also when that becomes known later, in a job.
void Workspace::undo() {
    if (!parts_->history.can_undo()) return;
    const Change step = parts_->history.undo();
    const auto redo_step = [this] {
        if (parts_->history.can_redo()) parts_->history.redo();
    };
    if (!parts_->take(step.before, step.title, std::nullopt, redo_step)) redo_step();
}

void Workspace::redo() {
    if (!parts_->history.can_redo()) return;
    const Change step = parts_->history.redo();
    const auto undo_step = [this] {
        if (parts_->history.can_undo()) parts_->history.undo();
    };
    if (!parts_->take(step.after, step.title, std::nullopt, undo_step)) undo_step();
}

View& Workspace::view() {
    return parts_->book.view();
}

bool Workspace::has_effect(std::string_view key) const {
    const BoundField* field = parts_->book.field(key);
    return field == nullptr || parts_->book.settings().disabled_by(*field) == nullptr;
}

// ---- Opening and closing of documents. A job does the slow part; its last step displays the result and sets the
// settings.

namespace {

// Older pictures of `echolux render` contain only their view.
std::vector<TomlEntry> entries_of_picture(const std::filesystem::path& path) {
    const PictureTexts texts = picture_texts(path);
    for (const char* name : {text_session, "view"}) {
        const auto text = texts.find(name);
        if (text != texts.end()) return toml_entries(text->second, path.string());
    }
    throw Error(ErrorCode::bad_file, "is an image without stored settings", path.string(),
                "only images saved by Echolux restore their view");
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

std::string name_of(const OpenDocument& what) {
    return what.file.empty() ? what.source : std::filesystem::path(what.file).filename().string();
}

SeriesBudget series_budget(const WindowSettings& window) {
    constexpr double gb = 1e9;
    return {static_cast<std::int64_t>(gb * window.series_memory_gb),
            static_cast<std::int64_t>(gb * window.series_gpu_gb)};
}

SourceRequest source_of(const Opening& opening) {
    SourceRequest wanted;
    wanted.name = opening.what.source;
    wanted.scan = opening.what.scan;
    wanted.assignments = lines_of(opening.what.assignments);
    wanted.settings = opening.source;
    return wanted;
}

// Describes the effects of opening a source on the instrument, for the confirmation.
std::string words_of(const RestoredState& session) {
    std::string words = "opens " + session.open.source;
    if (session.source.line_rate_hz > 0)
        words += fmt::format(", sets {:g} lines per second", session.source.line_rate_hz);
    if (session.source.exposure_us > 0)
        words += fmt::format(", sets an exposure of {:g} us", session.source.exposure_us);
    return words;
}

}  // namespace

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
            progress.begin("examining the file", 0, "");
            switch (kind_of_file(file)) {
                case FileKind::view_source:
                    return
                        [this,
                         what = OpenDocument{.file = file.string(), .assignments = assignments_for(file, assignments)},
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
                case FileKind::spectra: return [this, file, guesses = guess_raw(file)] { raw.propose(file, guesses); };
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
        recordings.refuse_while_active();  // it ends only when it is stopped
        require_allowed(wanted.what);
    };
    if (!attempt(place, may_be_opened)) return;
    ask_before("Open " + name_of(wanted.what) + "?", "Open", [this, wanted] { open_now(wanted); });
}

// Proceeds at once if nothing would be lost.
void Workspace::Parts::ask_before(const std::string& title, const std::string& confirm,
                                  const std::function<void()>& proceed) {
    const std::string lost = replacing == Replacing::asks ? workspace.losses_of_closing() : "";
    if (lost.empty()) return proceed();
    workspace.ask({title, lost, confirm, "Cancel", proceed});
}

void Workspace::Parts::end_document(const std::string& title, const std::string& confirm,
                                    const std::function<void()>& end) {
    const auto end_now = [this, end] {
        attempt("source", [&] {
            recordings.refuse_while_active();
            jobs.cancel(opening);
            end();
        });
    };
    if (recordings.is_active()) return end_now();  // reports the refusal
    ask_before(title, confirm, end_now);
}

void Workspace::Parts::open_now(const Opening& wanted) {
    const std::string place = wanted.what.file.empty() ? "source" : "files";
    jobs.cancel(opening);
    opening_name = wanted.what.file.empty() ? wanted.what.source : wanted.what.file;
    const BackendChoice backend = viewer.backend();
    opening = jobs.start(
        "opening " + name_of(wanted.what),
        [this, wanted, backend, budget = series_budget(book.window())](Progress& progress) -> Jobs::LastStep {
            ViewSourceFactory make =
                wanted.what.file.empty()
                    ? open_live_source(source_of(wanted), backend, progress)
                    : open_source_view(wanted.what.file, lines_of(wanted.what.assignments), backend, budget, progress);
            return [this, wanted, made = std::move(make)] { show(made, wanted); };
        },
        to(place));
}

void Workspace::Parts::show(const ViewSourceFactory& make, const Opening& wanted) {
    recordings.refuse_while_active();  // a recording may have started since
    close();
    viewer.show(make);
    take_over(wanted);
    notices.settle("files");
    notices.settle("source");
    if (!wanted.what.file.empty()) note_recent(wanted.what.file);
    if (wanted.what.file.empty()) start_source();
}

void Workspace::Parts::take_over(const Opening& wanted) {
    open = wanted.what;
    book.set_source(wanted.source);
    book.set_scan(viewer.live() == nullptr ? std::nullopt : std::optional(viewer.live()->scan()));
    if (Timeline* time = viewer.view_source()->timeline()) time->go_to(wanted.what.step);
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
    note_saved();
    if (workspace.question() && workspace.question()->is_offer) workspace.answer(false);
}

void Workspace::Parts::note_saved() {
    saved_distances = book.view().distances;
    saved_angles = book.view().angles;
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
void Workspace::Parts::restore_foreign(RestoredState session, const std::filesystem::path& from) {
    std::string& source = session.open.source;
    drop_window_settings(session.view_values);
    if (const std::string kind = SourceName(source).kind; kind == "plugin" || kind == "gentl") {
        notices.note("source",
                     from.filename().string() +
                         " was made with a plugin, which has to be started explicitly: echolux view --source " +
                         source);
        source.clear();
    }
    if (SourceName(source).kind == "genicam" && !is_agreed(from)) {
        restore_look(session);
        notices.report_problem("source",
                               from.filename().string() + " " + words_of(session) +
                                   "; open it again within 30 s to allow that, or start it explicitly: echolux view "
                                   "--source " +
                                   source);
        return;
    }
    restore(session);
}

void Workspace::Parts::restore(const RestoredState& session) {
    if (!session.open.is_nothing()) {
        OpenDocument what = session.open;
        what.assignments = text_of_lines(assignments_of(session));
        return start_opening({std::move(what), session.source, session.view_values});
    }
    restore_look(session);
}

void Workspace::Parts::restore_look(const RestoredState& session) {
    Values values = default_view_values();
    for (const auto& [key, value] : session.view_values) values.insert_or_assign(key, value);
    use(values);
}

void Workspace::Parts::use_preset(const RestoredState& preset) {
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

// Flow compares repeats of a line or of a B-scan. A simulated scene without them is opened again with those of the
// wanted method and with the same view. Returns false for other sources, whose protocol belongs to the user.
bool Workspace::Parts::opens_with_repeats(const Values& wanted) {
    const auto method = wanted.find("flow.method");
    const LiveController* live = viewer.live();
    if (method == wanted.end() || method->second == Value(std::string("none")) || live == nullptr) return false;
    const ScanGeometry& geometry = live->scan().geometry;
    const bool has_repeats = geometry.a_repeats * geometry.b_repeats > 1;
    const bool was_asked = open.assignments.find("_repeats=") != std::string::npos;
    if (!live->capabilities().has_truth || has_repeats || was_asked || recordings.is_active()) return false;
    RestoredState again = session_of(toml_entries(session_text(), "session"), "session");
    for (const auto& [key, value] : wanted) (is_of_scan(key) ? again.scan : again.view_values)[key] = value;
    again.scan.try_emplace("recipe.average", std::string("power"));
    const std::string& name = std::get<std::string>(method->second);
    const bool compares_lines = name == "doppler" || name == "power_doppler";
    std::vector<std::string> assignments = lines_of(again.open.assignments);
    assignments.emplace_back(compares_lines ? "simulation.a_repeats=4" : "simulation.b_repeats=4");
    again.open.assignments = text_of_lines(assignments);
    notices.note("flow", "restarting the scan with four repeats, which flow needs");
    replacing = layering.has_unsaved() ? Replacing::asks : Replacing::at_once;  // the rest is kept
    restore(again);
    restart = opening;
    restart_values = std::move(again.scan);
    return true;
}

// Instruments take time to start and stop, while display continues. The last of several requests wins.
void Workspace::Parts::start_source() {
    if (viewer.live() == nullptr || viewer.live()->is_recorded()) return;
    jobs.start(
        "starting the source",
        [source = viewer.view_source()->shared_live()](Progress& progress) -> Jobs::LastStep {
            progress.begin("start", 0, "");
            source->start();
            return {};
        },
        to("source"));
}

void Workspace::Parts::stop_source() {
    if (viewer.live() == nullptr || viewer.live()->is_recorded()) return;
    jobs.start(
        "stopping the source",
        [source = viewer.view_source()->shared_live()](Progress& progress) -> Jobs::LastStep {
            progress.begin("stop", 0, "");
            source->stop();
            return {};
        },
        to("source"));
}

void Workspace::Parts::close() {
    stop_source();  // the job keeps the session alive until it has stopped
    viewer.clear();
    open = {};
    history = {};
    cross_um = {};
    exporting.drop_pending_screenshots();
    book.set_scan(std::nullopt);
    calibrating.forget();
    filtering.forget();
    layering.forget();
    for (const char* place :
         {"source", "scan", "calibration", "recipe", "flow", "view", "filter", "layers", "registration"})
        notices.close(place);
}

void Workspace::open(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                     Replacing replacing) {
    parts_->replacing = replacing;
    parts_->open_path(path, assignments);
}

void Workspace::open_source(const SourceRequest& source, Replacing replacing) {
    parts_->replacing = replacing;
    std::vector<std::string> assignments = lines_of(parts_->scan_assignments());
    assignments.insert(assignments.end(), source.assignments.begin(), source.assignments.end());
    OpenDocument what{.source = source.name, .scan = source.scan.string(), .assignments = text_of_lines(assignments)};
    parts_->start_opening({std::move(what), source.settings});
}

std::optional<JobState> Workspace::opening(const std::string& name) const {
    if (name != parts_->opening_name) return {};
    const std::vector<JobState> jobs = parts_->jobs.states();
    const auto found = std::ranges::find(jobs, parts_->opening, &JobState::id);
    if (found == jobs.end() || found->is_cancelled) return {};
    return *found;
}

const Values* Workspace::restarting() const {
    const std::vector<JobState> jobs = parts_->jobs.states();
    const auto found = std::ranges::find(jobs, parts_->restart, &JobState::id);
    return found == jobs.end() || found->is_cancelled ? nullptr : &parts_->restart_values;
}

void Workspace::close(Replacing replacing) {
    parts_->replacing = replacing;
    const ViewSource* shown = parts_->viewer.view_source();
    const std::string name = shown == nullptr ? "" : shown->name();
    parts_->end_document("Close " + name + "?", "Close", [this] { parts_->close(); });
}

void Workspace::begin_new(Replacing replacing) {
    parts_->replacing = replacing;
    parts_->end_document("Begin a new session?", "New session", [this] {
        parts_->close();
        parts_->use(default_view_values());
        parts_->session_file.clear();
        parts_->history = {};
    });
}

void Workspace::answer(bool is_confirmed) {
    const std::optional<Question> asked = std::exchange(question_, std::nullopt);
    if (asked && is_confirmed) asked->confirmed();
}

// Settings are not listed, because the state of the program keeps them.
std::string Workspace::losses_of_closing() const {
    if (!asks_ || parts_->viewer.view_source() == nullptr) return {};
    std::string text;
    const auto add = [&text](const std::string& sentence) { text += (text.empty() ? "" : "\n") + sentence; };
    const LiveController* live = parts_->viewer.live();
    if (live != nullptr && !live->is_recorded() && live->is_running()) add("The running source will be stopped.");
    const View& view = parts_->book.view();
    const auto measured = view.distances.size() / 6 + view.angles.size() / 9;
    const bool is_saved = view.distances == parts_->saved_distances && view.angles == parts_->saved_angles;
    if (measured > 0 && !is_saved) add(plural(measured, "measurements") + " will be lost: save the session (Ctrl+S).");
    if (parts_->layering.has_unsaved()) add("Surfaces between layers will be lost: save them in the panel Layers.");
    return text;
}

void Workspace::start_source() {
    parts_->start_source();
}

void Workspace::stop_source() {
    parts_->stop_source();
}

std::vector<std::filesystem::path> Workspace::recent() const {
    std::vector<std::filesystem::path> files = parts_->state.recent();
    std::erase_if(files, [this](const std::filesystem::path& file) { return !parts_->is_allowed(file); });
    return files;
}

// ---- Saving of sessions and presets

static std::string now_text() {
    return fmt::format("{:%Y-%m-%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

bool Workspace::Parts::has_session() const {
    return was_opened || last_session.empty();
}

// Writes only if the state has changed.
void Workspace::Parts::autosave() {
    const double every_s = book.window().autosave_s;
    if (!state.is_there() || !has_session() || every_s == 0 || now_s - autosaved_s < every_s) return;
    autosaved_s = now_s;
    std::string text = remembered_text();
    if (text == autosaved) return;
    state.keep_running_session(text);
    autosaved = std::move(text);
}

std::filesystem::path Workspace::keeping_folder(UserFolder folder) const {
    const std::string& wanted = parts_->book.window().record_folder;
    std::error_code problem;  // the folder may be missing
    const std::filesystem::path place = wanted.empty() ? parts_->own_folders.at(static_cast<std::size_t>(folder))
                                                       : std::filesystem::absolute(wanted, problem);
    return folders() != nullptr && !folders()->hold(place) ? folders()->all().front() : place;
}

// The name contains date and time; a number is appended if it is in use.
std::filesystem::path Workspace::new_name(UserFolder folder, const std::string& kind, const std::string& ending) const {
    const std::filesystem::path place = keeping_folder(folder);
    const std::string stem = "echolux-" + kind + now_text();
    std::filesystem::path path = place / (stem + ending);
    std::error_code problem;
    for (int i = 2; std::filesystem::exists(path, problem); ++i) path = place / fmt::format("{}-{}{}", stem, i, ending);
    return path;
}

void Workspace::save_session(const std::filesystem::path& path) {
    const bool may_be_saved = parts_->attempt("files", [&] { parts_->check_recent_name(path); });
    if (!may_be_saved) return;
    parts_->jobs.start(
        "saving the session",
        [parts = parts_.get(), path, text = parts_->session_text()](Progress& progress) {
            progress.begin("write", 0, "");
            write_text(path, text);
            return [parts, path] {
                parts->session_file = path;
                parts->note_saved();
                parts->note_recent(std::filesystem::absolute(path).lexically_normal());
                parts->notices.note("files", "session saved as " + short_path(path),
                                    {path, NoticeFile::Opener::echolux});
            };
        },
        parts_->to("files"));
}

std::filesystem::path Workspace::session_file() const {
    return parts_->session_file;
}

bool Workspace::has_last_session() const {
    return !parts_->last_session.empty();
}

bool Workspace::has_crashed() const {
    return !parts_->state.last_ended_in_order() && has_last_session();
}

void Workspace::restore_last_session() {
    parts_->replacing = Replacing::asks;
    if (has_last_session()) parts_->open_session(parts_->last_session);
}

// ---- presets

void Workspace::save_preset(const std::string& name) {
    parts_->attempt("files", [&] {
        parts_->state.save_preset(name, parts_->preset_text());
        parts_->notices.note("files", "preset \"" + name + "\" saved");
    });
}

void Workspace::use_preset(const std::string& name) {
    parts_->attempt("files", [&] {
        const std::filesystem::path path = parts_->state.preset(name);
        parts_->state.finish();
        parts_->use_preset(session_of(toml_entries(path), path.string()));
    });
}

std::vector<std::string> Workspace::presets() const {
    return parts_->state.presets();
}

void Workspace::check_recent_name(const std::filesystem::path& path) const {
    parts_->check_recent_name(path);
}

}  // namespace echolux
