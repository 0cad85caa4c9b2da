// Saving of sessions, presets, volumes and recordings.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "app/live/kept_series.h"
#include "app/stage/kept_reading.h"
#include "app/transfer/transfer_text.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/allowed_folders.h"
#include "engine/io/atomic_file.h"
#include "engine/io/volume_file.h"
#include "engine/scan/striping.h"
#include "ui/workspace/workspace_parts.h"

namespace echolux {
namespace {

std::string now_text() {
    return fmt::format("{:%Y-%m-%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

std::vector<std::filesystem::path> stripe_folders(const WindowSettings& window) {
    std::vector<std::filesystem::path> all;
    for (const std::string& name : stripe_names(window.stripe_folders)) {
        if (!name.empty()) all.emplace_back(name);
    }
    return all;
}

// Returns `text` with its sections of these names replaced by `these`.
std::string with_sections(std::string text, std::initializer_list<std::string_view> names, const std::string& these) {
    for (const std::string_view name : names) {
        const std::size_t begin = text.find(fmt::format("[{}]\n", name));
        if (begin == text.npos) continue;
        const std::size_t next = text.find("\n[", begin);
        text.erase(begin, next == text.npos ? text.npos : next + 1 - begin);
    }
    if (!text.empty() && !these.empty() && !text.ends_with("\n\n")) text += "\n";
    return text + these;
}

}  // namespace

WhatIsOpen Workspace::Parts::what_is_open() const {
    WhatIsOpen what = open;
    what.cross_um.assign(cross_um.begin(), cross_um.end());
    Exhibit* exhibit = stage.exhibit();
    if (exhibit != nullptr && exhibit->timeline() != nullptr) what.step = exhibit->timeline()->step();
    return what;
}

std::string Workspace::Parts::session_text() const {
    return session_toml(what_is_open(), book.view(), book.toml());
}

// Returns the state to remember. Window settings from the command line apply to this run only: unless the user changed
// them, the previous values are stored.
std::string Workspace::Parts::remembered_text() const {
    if (asked_window.empty()) return session_text();
    WindowSettings window = book.window();
    Settings settings;
    settings.bind("window", window);
    for (const auto& [key, values] : asked_window) {
        for (const BoundField& field : settings.fields()) {
            if (field.key() == key && field.get() == values.second) field.set(values.first);
        }
    }
    return session_toml(what_is_open(), book.view(), with_sections(book.toml(), {"window"}, settings.toml()));
}

std::string Workspace::Parts::picture_text(TissueSettings shown) const {
    Settings settings;
    bind(settings, shown);
    const std::string text = with_sections(book.toml(), {"filter", "registration", "layers"}, settings.toml());
    return session_toml(what_is_open(), book.view(), text);
}

std::string Workspace::Parts::look_text() const {
    const auto is_set = [](const BoundField& field) {
        return field.section == "view" && field.get() != field.default_value;
    };
    const View& view = book.view();
    std::string text = book.settings().toml_where(is_set);
    if (view.transfer.empty() && view.transfer_curve) text += "\n" + toml_of(view.transfer_curve);
    return text;
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
    const std::string& wanted = window().record_folder;
    std::error_code problem;  // the folder may be missing
    const std::filesystem::path place = wanted.empty() ? parts_->own_folders.at(static_cast<std::size_t>(folder))
                                                       : std::filesystem::absolute(wanted, problem);
    return folders() != nullptr && !folders()->hold(place) ? folders()->all().front() : place;
}

std::vector<std::filesystem::path> Workspace::recording_folders() const {
    std::vector<std::filesystem::path> all{keeping_folder(UserFolder::videos)};
    const auto stripes = stripe_folders(window());
    all.insert(all.end(), stripes.begin(), stripes.end());
    return all;
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
    const bool may_be_saved = parts_->attempt("files", [&] { parts_->check_kept_name(path); });
    if (!may_be_saved) return;
    parts_->jobs.start(
        "saving the session",
        [parts = parts_.get(), path, text = parts_->session_text()](Progress& progress) {
            progress.begin("write", 0, "");
            write_text(path, text);
            return [parts, path] {
                parts->session_file = path;
                parts->note_recent(std::filesystem::absolute(path).lexically_normal());
                parts->notices.note("files", "session saved as " + short_path(path),
                                    {path, KeptFile::ShownBy::echolux});
            };
        },
        parts_->to("files"));
}

// The format follows from the name.
void Workspace::save_volume(const std::filesystem::path& path) {
    parts_->attempt("export", [&] {
        Exhibit* exhibit = parts_->stage.exhibit();
        const VolumeToCome coming = exhibit == nullptr ? VolumeToCome{} : exhibit->begin_reading();
        if (!coming) throw Error(ErrorCode::output, "there is no volume to save yet", path.string());
        parts_->check_kept_name(path);
        check_volume_name(path, exhibit->grid()->type);
        parts_->jobs.start(
            "saving " + path.filename().string(),
            [parts = parts_.get(), path, coming](Progress& progress) {
                progress.begin("read", 0, "");
                const std::shared_ptr<const Volume> volume = coming();
                progress.begin("write", 0, "");
                write_volume(path, *volume);
                return [parts, path] { parts->note_saved(path, KeptFile::ShownBy::echolux); };
            },
            parts_->to("export"));
    });
}

void Workspace::save_kept(const std::filesystem::path& path, double seconds) {
    parts_->attempt("export", [&] {
        Exhibit* exhibit = parts_->stage.exhibit();
        const auto grid = exhibit == nullptr ? std::nullopt : exhibit->grid();
        const std::shared_ptr<KeptReading> reading = grid ? exhibit->begin_reading_kept(seconds) : nullptr;
        if (!reading) {
            throw Error(ErrorCode::output, "no volumes are kept that could be saved", path.string(),
                        "open a live source with `source.keep_gb` above 0");
        }
        check_kept_name(path);
        check_series_name(path, grid->type);
        parts_->jobs.start(
            "saving " + path.filename().string(),
            [parts = parts_.get(), path, reading](Progress& progress) {
                write_kept(
                    path, reading->series(), [&] { return reading->next(progress); }, progress);
                return [parts, path] { parts->note_saved(path, KeptFile::ShownBy::echolux); };
            },
            parts_->to("export"));
    });
}

std::filesystem::path Workspace::session_file() const {
    return parts_->session_file;
}

bool Workspace::has_last_session() const {
    return !parts_->last_session.empty();
}

void Workspace::restore_last_session() {
    if (has_last_session()) parts_->open_session(parts_->last_session);
}

// ---- presets

void Workspace::save_preset(const std::string& name) {
    parts_->attempt("files", [&] {
        // Settings that depend on one volume are not part of a preset.
        const auto is_of_preset = [](const BoundField& field) {
            constexpr std::array<std::string_view, 17> of_one_volume{
                "width",     "height",      "target_um",       "near_um",      "slices",       "clip_low",
                "clip_high", "clip_planes", "plane_offset_um", "distances",    "angles",       "flow_arrows",
                "time_s",    "text",        "flow_streaks",    "streak_pulse", "streak_time_s"};
            const bool is_of_one = field.section == "view" && std::ranges::count(of_one_volume, field.name) > 0;
            return !is_of_one && (field.section == "view" || is_recipe_section(field.section) ||
                                  (is_tissue_section(field.section) && field.name != "shown"));
        };
        std::string text = "# A preset for Echolux.\n\n" + parts_->book.settings().toml_where(is_of_preset);
        if (view().transfer.empty() && view().transfer_curve) text += "\n" + toml_of(view().transfer_curve);
        parts_->state.save_preset(name, text);
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

// ---- recordings

void Workspace::start_recording(const std::filesystem::path& scan_toml) {
    parts_->attempt("source", [&] {
        LiveSession* live = parts_->live();
        if (live == nullptr || live->is_recorded()) {
            throw Error(ErrorCode::bad_setting, "there is no running source to record", "recording",
                        "open the simulator, a camera or a replay");
        }
        if (parts_->is_recording()) return;
        if (!scan_toml.empty()) check_kept_name(scan_toml);
        const std::filesystem::path path = scan_toml.empty() ? new_name(UserFolder::videos, "", ".toml") : scan_toml;
        RecordingWanted wanted = live->recording_of_now(path, parts_->look_text());
        wanted.stripe_folders = stripe_folders(window());
        for (const std::filesystem::path& folder : wanted.stripe_folders) parts_->require_allowed(folder);
        parts_->begin_recording(std::move(wanted));
    });
}

// Creating files may take time, so a job does it.
void Workspace::Parts::begin_recording(RecordingWanted wanted) {
    const std::shared_ptr<LiveSession> session = stage.exhibit()->shared_live();
    starting_recording = jobs.start(
        "starting the recording",
        [this, session, wanted = std::move(wanted)](Progress& progress) {
            progress.begin("write", 0, "");
            session->record(wanted);
            return [this, path = wanted.scan_toml] {
                recording = path;
                notices.note("source", "recording to " + short_path(path));
            };
        },
        to("source"));
}

bool Workspace::Parts::is_under_way(std::uint64_t job) const {
    return std::ranges::any_of(jobs.states(), [job](const JobState& state) { return state.id == job; });
}

bool Workspace::Parts::is_recording() const {
    if (is_under_way(starting_recording) || is_under_way(ending_recording)) return true;
    return live() != nullptr && live()->is_recording();
}

// Received data is still being written, so a job waits for the disk.
void Workspace::stop_recording() {
    Parts& parts = *parts_;
    if (parts.live() == nullptr || !parts.live()->is_recording()) return;
    if (parts.is_under_way(parts.ending_recording)) return;
    const std::shared_ptr<LiveSession> live = parts.stage.exhibit()->shared_live();
    parts.ending_recording = parts.jobs.start(
        "ending the recording",
        [&parts, live](Progress& progress) {
            progress.begin("write", 0, "");
            const RecorderStats stats = live->stop_recording();
            return [&parts, stats] {
                parts.last_recording = KeptRecording{parts.recording, stats};
                const std::int64_t blocks = stats.blocks_not_in_it();
                const std::string missing = blocks > 0 ? fmt::format(", {} are missing", blocks)
                                            : stats.lost_b_scans > 0
                                                ? ", " + counted(stats.lost_b_scans, "B-scans") + " never came"
                                                : "";
                const std::string line =
                    fmt::format("recorded {}, {:.4g} MB{}: {}", counted(stats.blocks, "blocks"),
                                1e-6 * static_cast<double>(stats.bytes), missing, short_path(parts.recording));
                const bool is_there = stats.blocks > 0;
                parts.notices.note("recording", line,
                                   is_there ? KeptFile{parts.recording, KeptFile::ShownBy::echolux} : KeptFile{});
            };
        },
        parts.to("source"));
}

const std::optional<KeptRecording>& Workspace::last_recording() const {
    return parts_->last_recording;
}

}  // namespace echolux
