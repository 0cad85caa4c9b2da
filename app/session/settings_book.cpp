#include "app/session/settings_book.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/open/channel_files.h"
#include "app/transfer/sky_file.h"
#include "app/transfer/transfer_file.h"
#include "app/transfer/transfer_text.h"
#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

// The calibration array that each calibration file fills.
struct CalibrationPart {
    std::string_view name;
    std::string CalibrationFiles::*file;
    std::vector<double> Calibration::*numbers;
};
constexpr std::array calibration_parts{
    CalibrationPart{"background", &CalibrationFiles::background, &Calibration::background},
    CalibrationPart{"dark", &CalibrationFiles::dark, &Calibration::dark},
    CalibrationPart{"k_map", &CalibrationFiles::k_map, &Calibration::k_positions},
    CalibrationPart{"wavelengths", &CalibrationFiles::wavelengths, &Calibration::wavelengths_nm},
    CalibrationPart{"dispersion", &CalibrationFiles::dispersion, &Calibration::dispersion_rad},
    CalibrationPart{"noise_floor", &CalibrationFiles::noise_floor, &Calibration::noise_floor},
    CalibrationPart{"fast_axis", &CalibrationFiles::fast_axis, &Calibration::fast_axis},
    CalibrationPart{"mask", &CalibrationFiles::mask, &Calibration::mask},
    CalibrationPart{"k_jitter", &CalibrationFiles::k_jitter, &Calibration::k_jitter},
};

bool is_undone(std::string_view key) {
    constexpr std::array<std::string_view, 3> sections{"view", "window", "calibration"};
    if (is_tissue_section(section_of(key))) return true;
    if (key == "window.width" || key == "window.height" || key == "window.save_folder") return false;
    return std::ranges::count(sections, section_of(key)) > 0 || is_recipe_section(section_of(key));
}

// The format and geometry of spectra cannot change while they are open.
void refuse_facts(std::string_view key) {
    if (section_of(key) != "scan" && section_of(key) != "recording") return;
    throw Error(ErrorCode::bad_setting, "cannot be changed while it is open", std::string(key),
                "change it in the scan's TOML file and open the scan again");
}

void check_window(const WindowSettings& window) {
    if (window.pane_split.size() == 2) return;
    throw Error(ErrorCode::bad_setting, "expected two numbers: shares of the width and of the height",
                "window.pane_split");
}

}  // namespace

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
    settled_ = undoable();
    settled_view_ = view_;
}

void SettingsBook::set_scan(std::optional<Scan> scan) {
    scan_ = std::move(scan);
    as_opened_ = scan_;
    bind_all();
    scan_values_.clear();
    if (!scan_) return;
    for (const auto& [key, place] : places_) {
        const BoundField& field = fields()[place];
        if (field.effect != Effect::view && field.section != "source") scan_values_[key] = field.get();
    }
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
    const auto is_of_channel = [](const auto& entry) { return entry.first.starts_with("view.channel_"); };
    if (std::ranges::any_of(wanted, is_of_channel)) load_channels(view_);
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
    for (const CalibrationPart& part : calibration_parts) {
        const bool is_concerned = is_wanted(part.name) || (map_is_wanted && is_map(part.name));
        if (!scan_ || !is_concerned) continue;
        const bool was_without_file =
            (as_opened_->calibration_files.*part.file).empty() && !(is_map(part.name) && map_has_file);
        scan_->calibration.*part.numbers =
            was_without_file ? as_opened_->calibration.*part.numbers : std::vector<double>{};
        is_loaded = false;
    }
    if (!is_loaded) load_calibration(*scan_);
}

void SettingsBook::check_all() const {
    check_view(view_);
    check_window(window_);
}

Change SettingsBook::apply(const Values& wanted, const std::function<void(const Change&)>& bring_about) {
    const View view = view_;
    const WindowSettings window = window_;
    const SourceSettings source = source_;
    const TissueSettings tissue = tissue_;
    const std::optional<Scan> scan = scan_;
    const Values before = undoable();
    try {
        set(wanted);
        check_all();
        Change change = change_since(before);
        bring_about(change);
        settled_ = undoable();
        settled_view_ = view_;
        return change;
    } catch (...) {
        view_ = view;
        window_ = window;
        source_ = source;
        tissue_ = tissue;
        if (scan) *scan_ = *scan;  // assign in place: fields are bound to this object
        throw;
    }
}

Change SettingsBook::take_back(const Scan& scan) {
    const Values before = undoable();
    *scan_ = scan;  // assign in place: fields are bound to this object
    settled_ = undoable();
    return change_since(before);
}

Change SettingsBook::view_edited() {
    try {
        check_view(view_);
    } catch (...) {
        view_ = settled_view_;
        throw;
    }
    Change change = change_since(settled_);
    settled_ = undoable();
    settled_view_ = view_;
    return change;
}

Values SettingsBook::undoable() const {
    Values values;
    for (const auto& [key, place] : places_) {
        if (is_undone(key)) values.emplace_hint(values.end(), key, fields()[place].get());
    }
    values[std::string(curve_key)] = toml_of(view_.transfer_curve);
    return values;
}

Change SettingsBook::change_since(const Values& before) const {
    Change change;
    for (auto& [key, value] : undoable()) {
        const auto old = before.find(key);
        if (old == before.end() || old->second == value) continue;
        change.before.emplace(key, old->second);
        change.after.emplace(key, value);
    }
    return change;
}

bool SettingsBook::is_kept(const BoundField& field) const {
    if (field.section == "recording") return false;
    const auto opened = scan_values_.find(field.key());
    return field.get() != (opened == scan_values_.end() ? field.default_value : opened->second);
}

std::string SettingsBook::toml() const {
    return settings_.toml_where([this](const BoundField& field) { return is_kept(field); });
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
