#include "app/settings/settings_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/open/show_opened.h"
#include "app/settings/short_texts.h"
#include "app/transfer/transfer_file.h"
#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {

// ---- Tissue

template <>
const std::vector<Field<FilterDisplay>>& describe<FilterDisplay>() {
    static const std::vector<Field<FilterDisplay>> fields{
        flag("shown", &FilterDisplay::shown, Effect::view,
             "display the filtered volume instead of the raw one; files and recordings do not change")
            .called("show filtered")
            .found_by("speckle denoise smooth")
            .of_volume(),
    };
    return fields;
}

template <>
const std::vector<Field<RegistrationDisplay>>& describe<RegistrationDisplay>() {
    using S = RegistrationDisplay;
    constexpr std::int64_t latest = 1 << 20;
    static const std::vector<Field<S>> fields{
        flag("shown", &S::shown, Effect::view,
             "display the stabilised volume instead of the raw one; files and recordings do not change")
            .called("show stabilised")
            .found_by("stabilise motion register align")
            .of_volume(),
        integer("reference", &S::reference, -1, latest, "", Effect::view,
                "window: time point to which B-scans are registered; -1: their neighbours in the same volume")
            .special(-1, "neighbours")
            .called("compare with"),
        flag("across_volumes", &S::across_volumes, Effect::view,
             "live: register B-scans to the last good volume that new ones still match, not only to their neighbours"),
    };
    return fields;
}

template <>
const std::vector<Field<LayerDisplay>>& describe<LayerDisplay>() {
    using S = LayerDisplay;
    constexpr std::int64_t farthest = 512;
    static const std::vector<Field<S>> fields{
        flag("shown", &S::shown, Effect::view, "show surfaces as lines in the sections of the window")
            .called("lines in sections")
            .of_volume(),
        integer("drag_a_scans", &S::drag_a_scans, 0, farthest, "A-scans", Effect::view,
                "distance along a B-scan over which a surface follows a dragged point")
            .in("Editing")
            .called("drag moves"),
        integer("drag_b_scans", &S::drag_b_scans, 0, farthest, "B-scans", Effect::view,
                "distance across B-scans over which a surface follows a dragged point")
            .in("Editing")
            .called("drag moves"),
    };
    return fields;
}

void bind(Settings& settings, TissueSettings& tissue) {
    settings.bind("layers", tissue.layers);
    settings.bind("layers", tissue.layer_display);
    settings.bind("filter", tissue.filter);
    settings.bind("filter", tissue.filter_display);
    settings.bind("registration", tissue.registration);
    settings.bind("registration", tissue.registration_display);
}

LiveTissue live_tissue(const TissueSettings& tissue) {
    return {.stabilises = tissue.registration_display.shown,
            .across_volumes = tissue.registration_display.across_volumes,
            .registration = tissue.registration,
            .filters = tissue.filter_display.shown,
            .filter = tissue.filter};
}

bool is_tissue_section(std::string_view section) {
    return section == "filter" || section == "registration" || section == "layers";
}

namespace {

// Returns the defaults of all fields.
const Values& default_tissue_values() {
    static const Values defaults = [] {
        TissueSettings tissue;
        Settings settings;
        bind(settings, tissue);
        Values values;
        for (const BoundField& field : settings.fields()) values[field.key()] = field.default_value;
        return values;
    }();
    return defaults;
}

}  // namespace

TissueSettings tissue_of(const Values& values) {
    TissueSettings tissue;
    Settings settings;
    bind(settings, tissue);
    std::vector<TomlEntry> entries;
    for (const auto& [key, value] : values) {
        if (is_tissue_section(section_of(key))) entries.push_back({key, value, "session"});
    }
    settings.take(entries);
    return tissue;
}

// ---- Size of pictures

void set_size(View& view, std::string_view size) {
    if (size.empty()) return;
    const auto pair = pair_in<std::int64_t>(size, 'x');
    if (!pair) {
        throw Error(ErrorCode::bad_setting, "'" + std::string(size) + "' is not valid", "size",
                    "write WIDTHxHEIGHT, e.g. 1280x960");
    }
    Settings settings;
    settings.bind("view", view);
    for (const auto& [key, pixels] : {std::pair("view.width", pair->first), std::pair("view.height", pair->second)}) {
        const BoundField& field = *settings.field(key);
        field.set(checked(field, field.default_value, Value(pixels), "size"));
    }
}

// ---- Undo

void UndoHistory::add(Change change, bool closes) {
    const bool joins = is_open_ && next_ > 0 && !can_redo() && changes_.back().title == change.title;
    if (joins) {
        Change& step = changes_.back();
        step.before.merge(change.before);  // existing values are older and are kept
        for (auto& [key, value] : change.after) step.after.insert_or_assign(key, std::move(value));
    } else if (change.before != change.after) {
        changes_.resize(next_);
        changes_.push_back(std::move(change));
        if (changes_.size() > max_steps) changes_.pop_front();
        next_ = changes_.size();
    } else {
        return close();
    }
    is_open_ = !closes;
    if (closes && changes_.back().before == changes_.back().after) {  // dragged back to the original value
        changes_.pop_back();
        next_ = changes_.size();
    }
}

void UndoHistory::forget(const std::map<std::string, Value>& kept) {
    close();
    const auto was_never_applied = [&](const Change& step) {
        bool differs = false;
        for (const auto& [key, value] : step.after) {
            const auto found = kept.find(key);
            if (found == kept.end()) return false;
            differs = differs || found->second != value;
        }
        return differs;
    };
    while (can_undo() && was_never_applied(changes_[next_ - 1])) {
        changes_.resize(--next_);  // steps that could be redone followed from this one
    }
}

const Change& UndoHistory::undo() {
    close();
    return changes_.at(--next_);
}

const Change& UndoHistory::redo() {
    close();
    return changes_.at(next_++);
}

// ---- Window

template <>
const std::vector<Field<WindowSettings>>& describe<WindowSettings>() {
    using S = WindowSettings;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<S>> fields{
        choice("theme", &S::theme, {"dark", "light"}, view, "colours of menus and panels; pictures stay dark")
            .found_by("dark light bright mode colour appearance"),
        number("scale", &S::scale, 0, 4, "", view, "scale of text and controls; 0: that of the screen")
            .special(0, "auto")
            .soft(0.75, 3)
            .found_by("font size dpi"),
        integer("width", &S::width, 320, 32768, "px", view, "width of the window").never_undone(),
        integer("height", &S::height, 240, 32768, "px", view, "height of the window").never_undone(),
        choice("layout", &S::layout, {"volume", "volume-and-sections", "sections", "alignment"}, view,
               "panes in the middle; alignment: spectra and A-scans, for a mirror in the sample arm"),
        flag("left_panels", &S::left_panels, view, "show source, processing and statistics"),
        flag("right_panels", &S::right_panels, view, "show flow, layers, view, transfer function and related panels"),
        number("left_width", &S::left_width, 200, 1000, "px", view, "width of the panels on the left, at scale 1"),
        number("right_width", &S::right_width, 200, 1000, "px", view, "width of the panels on the right, at scale 1"),
        numbers("pane_split", &S::pane_split, 0.1, 0.9, "", view,
                "share of the width for the volume, and of the height for the upper section"),
        text("open_panels", &S::open_panels, view, "names of the open panels, separated by commas"),
        flag("cross_hair", &S::cross_hair, view, "mark the position of the cross-hair"),
        flag("light_handles", &S::light_handles, view,
             "light handles in the volume pane: drag to move a light around the volume, with Shift to change its "
             "distance")
            .in("Studio"),
        flag("time_line", &S::time_line, view, "time line of key frames below the panes"),
        text("key_frames", &S::key_frames, view, "key frames on the time line, in the TOML of a key frame file"),
        flag("link_levels", &S::link_levels, view,
             "sections show the same range of values as the volume; false: a right drag in a section changes all "
             "sections and leaves the volume as it is")
            .in("Slices")
            .found_by("brightness contrast window level"),
        choice("section_convention", &S::section_convention, {"radiological", "neurological"}, view,
               "sides in axial and coronal sections of medical volumes; radiological: the patient's right is on the "
               "left; neurological: on the right")
            .in("Slices")
            .called("sides of patient")
            .found_by("left right flip mirror orientation medical"),
        number("section_low", &S::section_low, -1e12, 1e12, "value", view,
               "value shown black in sections that have their own range")
            .special(-1e12, "auto")
            .in("Slices")
            .found_by("brightness contrast window level black")
            .only_while("window.link_levels", {"false"}),
        number("section_high", &S::section_high, -1e12, 1e12, "value", view,
               "value shown white in sections that have their own range")
            .special(1e12, "auto")
            .in("Slices")
            .found_by("brightness contrast window level white")
            .only_while("window.link_levels", {"false"}),
        flag("mouse_slicer", &S::mouse_slicer, view, "use the mouse as in 3D Slicer; false: as in ParaView"),
        text("record_subject", &S::record_subject, view,
             "person or sample, for names of recordings and recording.subject in their TOML")
            .in("Recording")
            .called("subject")
            .found_by("patient animal sample name id")
            .never_undone(),
        text("record_note", &S::record_note, view, "note for the next recording, as recording.note in its TOML")
            .in("Recording")
            .called("note")
            .found_by("comment")
            .never_undone(),
        integer("record_volumes", &S::record_volumes, 0, 1'000'000'000, "volumes", view,
                "recordings end after this number of volumes; 0: when stopped")
            .special(0, "until stopped")
            .soft(0, 100)
            .in("Recording")
            .called("length"),
        number("record_s", &S::record_s, 0, 1e7, "s", view,
               "recordings end after this time, even within a volume; 0: when stopped")
            .special(0, "until stopped")
            .soft(0, 600)
            .in("Recording")
            .called("duration")
            .found_by("timed seconds"),
        text(
            "record_folder", &S::record_folder, view,
            "folder for recordings, pictures and other files named automatically; empty: the desktop's folders Videos, "
            "Pictures and Documents")
            .folder()
            .in("Recording")
            .called("folder"),
        text(
            "stripe_folders", &S::stripe_folders, view,
            "folders on further disks, separated by semicolons: recordings are striped across their own disk and these")
            .in("Recording")
            .called("stripe across disks"),
        text("save_folder", &S::save_folder, view, "folder of the last saved file, where dialogs open")
            .folder()
            .never_undone(),
        number("series_memory_gb", &S::series_memory_gb, 0, 4096, "GB", view,
               "memory for reading ahead time points of a series; takes effect with the next file"),
        number("series_gpu_gb", &S::series_gpu_gb, 0, 1024, "GB", view,
               "graphics memory for time points prepared ahead of the one shown"),
        number("autosave_s", &S::autosave_s, 0, 3600, "s", view, "interval at which the state is saved; 0: never")
            .special(0, "never")
            .soft(0, 120),
    };
    return fields;
}

// ---- Registry

namespace {

bool is_fact(std::string_view section) {
    return section == "scan" || section == "recording";
}

// The format and geometry of spectra cannot change while they are open.
void refuse_facts(std::string_view key) {
    if (!is_fact(section_of(key))) return;
    throw Error(ErrorCode::bad_setting, "cannot be changed while it is open", std::string(key),
                "change it in the scan's TOML file and open the scan again");
}

bool is_of_channel(std::string_view key) {
    return key.starts_with("view.channel_");
}

bool belongs_to_scan(const BoundField& field) {
    return field.section != "view" && field.section != "window" && field.section != "source" &&
           !is_tissue_section(field.section);
}

const Field<View>& view_field(const BoundField& field) {
    return *std::ranges::find(describe<View>(), field.name, &Field<View>::name);
}

void add_curve(Change& change, const std::optional<TransferCurve>& before, const std::optional<TransferCurve>& after) {
    if (before == after) return;
    change.before.emplace(curve_key, toml_of(before));
    change.after.emplace(curve_key, toml_of(after));
}

void check_window(const WindowSettings& window) {
    if (window.pane_split.size() == 2) return;
    throw Error(ErrorCode::bad_setting, "expected two numbers: shares of the width and of the height",
                "window.pane_split");
}

}  // namespace

bool is_undone(const BoundField& field) {
    return field.is_undone && !is_fact(field.section) && field.section != "source";
}

bool is_of_preset(const BoundField& field) {
    return !field.is_of_volume &&
           (field.section == "view" || is_recipe_section(field.section) || is_tissue_section(field.section));
}

const Values& default_view_values() {
    static const Values view_values = [] {
        const View view;
        Values values = default_tissue_values();
        for (const Field<View>& field : describe<View>()) values["view." + std::string(field.name)] = field.get(view);
        return values;
    }();
    return view_values;
}

SettingsBook::SettingsBook() {
    bind_all();
}

void SettingsBook::bind_all() {
    settings_ = {};
    settings_.bind("view", view_);
    settings_.bind("window", window_);
    bind(settings_, tissue_);
    if (scan_) {
        bind(settings_, *scan_);
        settings_.bind("source", source_);
    }
    places_.clear();
    for (std::size_t i = 0; i < fields().size(); ++i) places_.emplace(fields()[i].key(), i);
}

void SettingsBook::set_scan(std::optional<Scan> scan) {
    bump_scan();
    scan_ = std::move(scan);
    as_opened_ = scan_;
    bind_all();
    bump_scan();
    scan_values_.clear();
    if (!scan_) return;
    for (const auto& [key, place] : places_) {
        const BoundField& field = fields()[place];
        if (field.effect != Effect::view && field.section != "source") scan_values_[key] = field.get();
    }
}

void SettingsBook::set_source(const SourceSettings& source) {
    source_ = source;
    bump("source");
}

void SettingsBook::bump_scan() {
    for (const BoundField& field : fields()) {
        if (belongs_to_scan(field)) bump(field.section);
    }
}

std::uint64_t SettingsBook::revision(std::string_view section) const {
    const auto found = revisions_.find(section);
    return found == revisions_.end() ? 0 : found->second;
}

const BoundField* SettingsBook::field(std::string_view key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &fields()[found->second];
}

void SettingsBook::set(const Values& wanted) {
    std::vector<TomlEntry> entries;
    for (const auto& [key, value] : wanted) {
        if (key == curve_key) continue;
        refuse_facts(key);
        entries.push_back({key, value, "settings"});
    }
    settings_.take(entries);
    take_curve(wanted);
    take_calibration(wanted);
}

// Selecting a preset replaces a curve that was drawn or read.
void SettingsBook::take_curve(const Values& wanted) {
    const auto names_channel = [](const auto& entry) { return is_of_channel(entry.first); };
    if (std::ranges::any_of(wanted, names_channel)) load_channels(view_);
    if (wanted.contains("view.preset")) load_own_preset(view_);
    if (wanted.contains("view.sky_picture")) load_sky(view_);
    if (const auto curve = wanted.find(std::string(curve_key)); curve != wanted.end()) {
        view_.transfer_curve = curve_of_toml(std::get<std::string>(curve->second));
    } else if (wanted.contains("view.transfer")) {
        view_.transfer_curve.reset();
        load_transfer(view_);
    } else if (wanted.contains("view.preset")) {
        view_.transfer.clear();
        view_.transfer_curve.reset();
    }
}

void SettingsBook::take_calibration(const Values& wanted) {
    // A named map from samples to k replaces one that came without a file.
    constexpr std::array<std::string_view, 2> maps{"k_map", "wavelengths"};
    const auto is_map = [&](std::string_view name) { return std::ranges::count(maps, name) > 0; };
    const auto is_wanted = [&](std::string_view name) { return wanted.contains("calibration." + std::string(name)); };
    const bool map_is_wanted = std::ranges::any_of(maps, is_wanted);
    const bool map_has_file = scan_ && !(scan_->calibration_files.k_map + scan_->calibration_files.wavelengths).empty();
    bool is_loaded = true;
    for (const CalibrationPart& part : calibration_parts()) {
        const bool is_concerned = is_wanted(part.key()) || (map_is_wanted && is_map(part.key()));
        if (!scan_ || !is_concerned) continue;
        const bool was_without_file =
            part.file_name(as_opened_->calibration_files).empty() && !(is_map(part.key()) && map_has_file);
        scan_->calibration.*part.numbers =
            was_without_file ? as_opened_->calibration.*part.numbers : std::vector<double>{};
        is_loaded = false;
    }
    if (!is_loaded) load_calibration(*scan_);
}

Change SettingsBook::apply(const Values& wanted, const std::function<void(const Change&)>& bring_about) {
    const Before before = before_setting(wanted);
    try {
        set(wanted);
        check_combinations(view_);
        check_window(window_);
        Change change = change_since(before);
        bring_about(change);
        settle(before);
        return change;
    } catch (...) {
        revert(before);
        throw;
    }
}

SettingsBook::Before SettingsBook::before_setting(const Values& wanted) const {
    Before before;
    before.sky = view_.sky_read;
    for (const auto& [key, value] : wanted) {
        if (const BoundField* field = this->field(key)) before.values.emplace_back(field, field->get());
        note_files(before, key);
    }
    // A preset also removes the name of a file.
    if (wanted.contains("view.preset") && !wanted.contains("view.transfer")) {
        const BoundField* transfer = field("view.transfer");
        before.values.emplace_back(transfer, transfer->get());
    }
    return before;
}

// Keeps the contents of files that setting `key` may read again.
void SettingsBook::note_files(Before& before, std::string_view key) const {
    const bool is_of_curve = key == "view.preset" || key == "view.transfer" || key == curve_key;
    if (is_of_curve && !before.curve) before.curve = static_cast<const Curve&>(view_);
    if (is_of_channel(key) && !before.channels) before.channels = static_cast<const Channels&>(view_);
    if (!scan_ || section_of(key) != "calibration" || before.calibration) return;
    before.calibration = scan_->calibration;
    before.remarks = scan_->remarks;
}

Change SettingsBook::change_since(const Before& before) const {
    Change change;
    for (const auto& [field, old] : before.values) {
        std::string key = field->key();
        Value now = field->get();
        if (now == old || !is_undone(*field)) continue;
        change.before.emplace(key, old);
        change.after.emplace(std::move(key), std::move(now));
    }
    if (before.curve) add_curve(change, before.curve->transfer_curve, view_.transfer_curve);
    return change;
}

// Counts the change and updates the settled view.
void SettingsBook::settle(const Before& before) {
    for (const auto& [field, old] : before.values) {
        const Value now = field->get();
        bool differs = now != old;
        if (field->section == "view") {
            const Field<View>& of_view = view_field(*field);
            differs = differs || of_view.get(settled_view_) != now;  // an edit that was not reported yet
            of_view.set(settled_view_, now);
        }
        if (differs) bump(field->section);
    }
    if (before.curve) settled_view_.transfer_curve = view_.transfer_curve;
    // The files may have other contents now, even under the same names.
    if (before.curve || before.channels || before.sky != view_.sky_read) bump("view");
    if (before.calibration) bump("calibration");
}

void SettingsBook::revert(const Before& before) {
    for (const auto& [field, old] : before.values) field->set(old);
    if (before.curve) static_cast<Curve&>(view_) = *before.curve;
    if (before.channels) static_cast<Channels&>(view_) = *before.channels;
    view_.sky_read = before.sky;
    if (!before.calibration) return;
    scan_->calibration = *before.calibration;
    scan_->remarks = before.remarks;
}

Change SettingsBook::take_back(const Scan& scan) {
    Before before;
    before.sky = view_.sky_read;
    for (const BoundField& field : fields()) {
        if (belongs_to_scan(field)) before.values.emplace_back(&field, field.get());
    }
    *scan_ = scan;  // assign in place: fields are bound to this object
    bump("calibration");
    settle(before);
    return change_since(before);
}

Change SettingsBook::view_edited() {
    Change change;
    try {
        change = edits_of_view();
        check_combinations(view_);
    } catch (...) {
        revert_view();
        throw;
    }
    for (const auto& [key, value] : change.after) {
        if (key == curve_key)
            settled_view_.transfer_curve = view_.transfer_curve;
        else
            view_field(*field(key)).set(settled_view_, value);
    }
    if (!change.after.empty()) bump("view");
    return change;
}

// Compares members, not values, because this runs at every step of a drag. Throws Error{bad_setting} for a value out of
// range.
Change SettingsBook::edits_of_view() const {
    Change change;
    for (const Field<View>& field : describe<View>()) {
        if (field.is_same(view_, settled_view_)) continue;
        std::string key = "view." + std::string(field.name);
        Value now = field.get(view_);
        checked(field, now, now, key);
        change.before.emplace(key, field.get(settled_view_));
        change.after.emplace(std::move(key), std::move(now));
    }
    add_curve(change, settled_view_.transfer_curve, view_.transfer_curve);
    return change;
}

void SettingsBook::revert_view() {
    for (const Field<View>& field : describe<View>()) {
        if (!field.is_same(view_, settled_view_)) field.set(view_, field.get(settled_view_));
    }
    view_.transfer_curve = settled_view_.transfer_curve;
}

bool SettingsBook::is_kept(const BoundField& field) const {
    if (field.section == "recording") return false;
    const auto opened = scan_values_.find(field.key());
    return field.get() != (opened == scan_values_.end() ? field.default_value : opened->second);
}

std::string SettingsBook::toml(std::initializer_list<std::string_view> without) const {
    return settings_.toml_where([&](const BoundField& field) {
        return std::ranges::find(without, field.section) == without.end() && is_kept(field);
    });
}

std::vector<std::string> SettingsBook::assignments() const {
    std::vector<std::string> list;
    for (const auto& [key, value] : scan_values_) {
        const BoundField& field = *this->field(key);
        if (is_kept(field)) list.push_back(assignment_of(key, field.get()));
    }
    return list;
}

}  // namespace echolux
