// Settings of the workspace: checking, applying and reverting changes.
#include <algorithm>
#include <utility>

#include "app/open/height_maps.h"
#include "app/transfer/transfer_text.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/unused_settings.h"
#include "ui/workspace/workspace_parts.h"

namespace echolux {
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

Values Workspace::Parts::asked_view_values() const {
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
void Workspace::Parts::restore_window() {
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

bool Workspace::Parts::take(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
                            const std::function<void()>& fails) {
    return attempt(section_of(title), [&] { take_or_throw(wanted, title, recorded, fails); });
}

void Workspace::Parts::take_or_throw(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
                                     const std::function<void()>& fails) {
    if (const auto state = wanted.find(std::string(surfaces_key)); state != wanted.end()) {
        if (!layering.go_to(std::get<std::int64_t>(state->second)))
            notices.note("layers", "surfaces of so many steps ago are no longer kept");
        // The surfaces of this step may lack a name that the cut uses.
        if (!layering.renew_heights(stage.exhibit(), book.view())) take(Layering::no_cut(), "view", std::nullopt);
        return;
    }
    const bool moves_heights =
        std::ranges::any_of(height_keys, [&](const char* key) { return changes(wanted, key, book); });
    if (std::ranges::any_of(height_keys, [&](const char* key) { return wanted.contains(key); })) wanted_heights.clear();
    refuse_flattening(wanted);
    require_allowed_files(wanted);
    if (moves_heights) return take_with_heights(wanted, title, recorded, fails);
    set_values(wanted, title, recorded);
    notices.settle(section_of(title));
}

void Workspace::Parts::set_values(const Values& wanted, const std::string& title, std::optional<Edit> recorded) {
    Change change = book.apply(wanted, [this](const Change& made) { bring_about(made); });
    if (!recorded) return;
    change.title = title;
    history.add(change, *recorded == Edit::done);
}

// Passes changed settings of the scan to the live session.
void Workspace::Parts::bring_about(const Change& change) {
    const auto concerns_it = [](const auto& entry) { return is_of_scan(entry.first); };
    LiveSession* session = live();
    if (session != nullptr && std::ranges::any_of(change.after, concerns_it)) session->change(*book.scan());
}

// Applies a cut whose heights must be searched or read first, in a job with the current volume. The last of several
// requests wins.
void Workspace::Parts::take_with_heights(const Values& wanted, const std::string& title, std::optional<Edit> recorded,
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
        set_values(wanted, title, recorded);
        wanted_heights.clear();
        if (stage.exhibit() != nullptr) stage.exhibit()->set_heights({});
        return;
    }
    if (stage.exhibit() == nullptr) {
        throw Error(ErrorCode::bad_setting, "there is no volume to find a surface in",
                    "view.top_from, view.bottom_from", "open one first");
    }
    if (stage.exhibit()->grid()) {
        std::optional<HeightMaps> maps;
        try {
            maps = layering.heights_of(cut);
        } catch (const Error&) {  // an undo step may name surfaces of another volume
            if (recorded) throw;
            return take_with_heights(without_cut(wanted), title, recorded, fails);
        }
        if (maps) {
            stage.exhibit()->set_heights(*maps);
            return set_values(wanted, title, recorded);
        }
    }
    const VolumeToCome coming = stage.exhibit()->begin_reading();
    if (!coming) {
        wanted_heights = wanted;
        return;
    }
    finding_heights = jobs.start(
        "finding heights",
        [this, cut, shown = stage.exhibit()->life(), wanted, title, recorded, coming](Progress& progress) {
            progress.begin("heights", 0, "");
            Volume volume = *coming();
            HeightMaps maps = prepared_heights(cut, volume);
            return [this, shown, wanted, title, recorded, found = std::move(maps)] {
                if (shown.expired()) return;
                stage.exhibit()->set_heights(found);
                set_values(wanted, title, recorded);
            };
        },
        [this, fails](const Error& error) {
            notices.trouble("view", error);
            if (fails) fails();
        });
}

// A view may use height maps only while they are on the device. If they are missing, the view uses the ends of the
// volume until they have been found.
void Workspace::Parts::find_missing_heights() {
    Exhibit* exhibit = stage.exhibit();
    if (exhibit == nullptr) return wanted_heights.clear();
    View& view = book.view();
    if (has_height_maps(view) && !exhibit->has_heights()) {
        wanted_heights = {{"view.top_from", view.top_from}, {"view.bottom_from", view.bottom_from}};
        view.top_from.clear();
        view.bottom_from.clear();
        book.view_edited();
    }
    if (!wanted_heights.empty() && exhibit->grid()) take(std::exchange(wanted_heights, {}), "view", std::nullopt);
}

// Removes channels whose voxel grid differs from that of the displayed volume, because rendering would fail.
void Workspace::Parts::drop_other_channels() {
    const Exhibit* exhibit = stage.exhibit();
    const std::optional<VolumeGrid> grid = exhibit != nullptr ? exhibit->grid() : std::nullopt;
    if (!grid || exhibit->loading()) return;  // a volume being loaded may be a coarse one
    try {
        check_channels(book.view(), *grid, exhibit->name());
    } catch (const Error& error) {
        Values none;
        for (std::size_t i = 0; i < book.view().channels.size(); ++i)
            none["view." + channel_key(i, "file")] = std::string();
        take(none, "view", std::nullopt);
        notices.trouble("view", error);
    }
}

bool Workspace::change(std::string_view key, const Value& value, Edit edit) {
    return parts_->take({{std::string(key), value}}, std::string(key), edit);
}

bool Workspace::change_together(const std::string& title, const std::map<std::string, Value>& values, Edit edit) {
    return parts_->take(values, title, edit);
}

void Workspace::set(const std::string& title, const std::map<std::string, Value>& values, Edit edit) {
    parts_->take_or_throw(values, title, edit);
}

void Workspace::end_edit() {
    parts_->history.close();
}

bool Workspace::reset(std::string_view key) {
    const BoundField* field = this->field(key);
    return field != nullptr && change(key, Value(field->default_value));
}

bool Workspace::set_transfer_curve(const TransferCurve& curve, Edit edit) {
    return parts_->attempt("view", [&] {
        const std::string key(curve_key);
        parts_->set_values({{key, toml_of(curve)},
                            {"view.transfer", std::string()},
                            {"view.low", lowest_value},
                            {"view.high", highest_value}},
                           key, edit);
    });
}

void Workspace::view_edited(Edit edit) {
    parts_->attempt("view", [&] {
        Change change = parts_->book.view_edited();
        change.title = "view";
        parts_->history.add(change, edit == Edit::done);
    });
}

void Workspace::add_to_history(const Change& change) {
    parts_->history.add(change, true);
}

// Keeps the step if it cannot be applied, also when that becomes known later, in a job.
void Workspace::undo() {
    if (!can_undo()) return;
    const Change step = parts_->history.undo();
    const auto redo_step = [this] {
        if (can_redo()) parts_->history.redo();
    };
    if (!parts_->take(step.before, step.title, std::nullopt, redo_step)) redo_step();
}

void Workspace::redo() {
    if (!can_redo()) return;
    const Change step = parts_->history.redo();
    const auto undo_step = [this] {
        if (can_undo()) parts_->history.undo();
    };
    if (!parts_->take(step.after, step.title, std::nullopt, undo_step)) undo_step();
}

bool Workspace::can_undo() const {
    return parts_->history.can_undo();
}

bool Workspace::can_redo() const {
    return parts_->history.can_redo();
}

View& Workspace::view() {
    return parts_->book.view();
}

const WindowSettings& Workspace::window() const {
    return parts_->book.window();
}

bool Workspace::has_effect(std::string_view key) const {
    return scan() == nullptr || echolux::has_effect(*scan(), key);
}

const TissueSettings& Workspace::tissue() const {
    return parts_->book.tissue();
}

const Scan* Workspace::scan() const {
    return parts_->book.scan();
}

const std::vector<BoundField>& Workspace::fields() const {
    return parts_->book.fields();
}

const BoundField* Workspace::field(std::string_view key) const {
    return parts_->book.field(key);
}

}  // namespace echolux
