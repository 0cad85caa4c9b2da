#include "app/settings/key_frame_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- Files

namespace {

constexpr double longest_s = 1e6;

double time_of(const TomlEntry& entry) {
    const FieldText time{"time_s", "s", "", Effect::view, 0, longest_s, {}};
    return std::get<double>(checked(time, 0.0, entry.value, entry.where));
}

Value checked_value(const TomlEntry& entry) {
    std::vector<std::string_view> names{"time_s", "ease"};
    for (const Field<View>& field : describe<View>()) {
        const Value like = field.get({});
        if (field.name == entry.name) return checked(field, like, entry.value, entry.where);
        names.push_back(field.name);
    }
    const std::string near = nearest_name(entry.name, names);
    throw Error(ErrorCode::bad_setting, "unknown key", entry.where,
                near.empty() ? "the keys are those of the section [view]" : "did you mean \"" + near + "\"?");
}

Ease ease_of(const TomlEntry& entry) {
    const auto* text = std::get_if<std::string>(&entry.value);
    const auto found = std::ranges::find(ease_names, text != nullptr ? std::string_view(*text) : std::string_view());
    if (found != ease_names.end()) return static_cast<Ease>(found - ease_names.begin());
    throw Error(ErrorCode::bad_setting, "is not an interpolation between keys", entry.where,
                "choose smooth, linear, hold or rest");
}

std::vector<KeyFrame> frames_of(const std::vector<std::vector<TomlEntry>>& tables, const std::string& where) {
    std::vector<KeyFrame> frames;
    for (const std::vector<TomlEntry>& table : tables) {
        const auto time = std::ranges::find(table, "time_s", &TomlEntry::name);
        if (time == table.end()) {
            throw Error(ErrorCode::bad_setting, "a key has no time", where + ", time_s", "e.g. time_s = 2.5");
        }
        KeyFrame frame{.time_s = time_of(*time), .where = time->where};
        for (const TomlEntry& entry : table) {
            if (entry.name == "ease")
                frame.ease = ease_of(entry);
            else if (entry.name != "time_s")
                frame.values.emplace(entry.name, checked_value(entry));
        }
        frames.push_back(std::move(frame));
    }
    return frames;
}

}  // namespace

KeyFrames read_key_frames(const std::filesystem::path& path) {
    return joined(frames_of(toml_tables(path, "key"), path.string()));
}

std::vector<KeyFrame> key_frames_of(std::string_view text, const std::string& where) {
    return frames_of(toml_tables(text, where, "key"), where);
}

KeyFrames joined(const std::vector<KeyFrame>& frames) {
    KeyFrames all;
    for (const KeyFrame& frame : frames) all.add(frame.time_s, frame.values, frame.where, frame.ease);
    return all;
}

// ---- Editing

constexpr std::array<std::string_view, 6> camera_names{"azimuth_deg", "elevation_deg", "roll_deg",
                                                       "zoom",        "distance",      "target_um"};

// Settings of the output file or the window; time_s, which is the time of a key; and named directions, which are stored
// as angles.
constexpr std::array<std::string_view, 10> never_keyed{"width",     "height", "samples", "rest_samples", "frame_ms",
                                                       "time_rate", "time_s", "look",    "fit",          "stereo"};

static bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

static View with_free_look(View view) {
    const Angles angles = angles_of(view);
    view.look = Look::free;
    view.azimuth_deg = angles.azimuth_deg;
    view.elevation_deg = angles.elevation_deg;
    view.roll_deg = angles.roll_deg;
    return view;
}

TimeLine::TimeLine(const std::string& text) {
    if (text.find_first_not_of(" \n\t") == std::string::npos) return;
    keys_ = key_frames_of(text, "the time line");
    key_frames();  // throws unless times are ascending
}

std::string TimeLine::toml() const {
    std::string text;
    for (const KeyFrame& key : keys_) {
        text += fmt::format("{}[[key]]\ntime_s = {}\n", text.empty() ? "" : "\n", spelled(Value(key.time_s)));
        if (key.ease != Ease::smooth)
            text += fmt::format("ease = \"{}\"\n", ease_names.at(static_cast<std::size_t>(key.ease)));
        for (const auto& [name, value] : key.values) text += fmt::format("{} = {}\n", name, spelled(value));
    }
    return text;
}

std::vector<std::string> TimeLine::names() const {
    std::vector<std::string> names;
    for (const Field<View>& field : describe<View>()) {
        const std::string name(field.name);
        if (std::ranges::any_of(keys_, [&](const KeyFrame& key) { return key.values.contains(name); }))
            names.push_back(name);
    }
    return names;
}

std::vector<KeyFrame>::iterator TimeLine::find(double time_s) {
    return std::ranges::find_if(keys_, [&](const KeyFrame& key) { return std::abs(key.time_s - time_s) < apart_s; });
}

KeyFrame& TimeLine::at_moment(double time_s) {
    if (const auto there = find(time_s); there != keys_.end()) return *there;
    const auto after = std::ranges::upper_bound(keys_, time_s, {}, &KeyFrame::time_s);
    return *keys_.insert(after, KeyFrame{.time_s = std::max(0.0, time_s)});
}

void TimeLine::tidy() {
    std::erase_if(keys_, [](const KeyFrame& key) { return key.values.empty(); });
}

void TimeLine::set(double time_s, const std::string& name, const Value& value) {
    at_moment(time_s).values[name] = value;
}

void TimeLine::take(double time_s, const View& wanted) {
    const View view = with_free_look(wanted);
    const View there = at(View{}, time_s);
    const double first = keys_.empty() ? time_s : keys_.front().time_s;
    const std::vector<std::string> keyed = names();
    for (const Field<View>& field : describe<View>()) {
        const std::string name(field.name);
        if (is_one_of(never_keyed, name)) continue;
        const bool is_camera = is_one_of(camera_names, name);
        const Value value = field.get(view);
        if (!is_camera && value == field.get(there)) continue;
        const bool is_new = std::ranges::find(keyed, name) == keyed.end();
        if (is_new && time_s > first + apart_s) set(first, name, field.get(View{}));
        set(time_s, name, value);
    }
}

void TimeLine::copy(double from_s, double to_s, const std::string& name) {
    const auto from = find(from_s);
    if (from == keys_.end()) return;
    const KeyFrame copied = *from;
    KeyFrame& to = at_moment(to_s);
    if (name.empty()) to.ease = copied.ease;
    for (const auto& [key, value] : copied.values) {
        if (name.empty() || key == name) to.values[key] = value;
    }
    tidy();
}

void TimeLine::erase(double time_s, const std::string& name) {
    const auto there = find(time_s);
    if (there == keys_.end()) return;
    if (name.empty())
        there->values.clear();
    else
        there->values.erase(name);
    tidy();
}

void TimeLine::move(double from_s, double to_s, const std::string& name) {
    const auto from = find(from_s), to = find(std::max(0.0, to_s));
    if (from == keys_.end() || from == to) return;
    const KeyFrame moved = *from;
    erase(from_s, name);
    KeyFrame& there = at_moment(std::max(0.0, to_s));
    if (name.empty()) there.ease = moved.ease;
    for (const auto& [key, value] : moved.values) {
        if (name.empty() || key == name) there.values[key] = value;
    }
    tidy();
}

void TimeLine::ease(double time_s, Ease ease) {
    if (const auto there = find(time_s); there != keys_.end()) there->ease = ease;
}

}  // namespace echolux
