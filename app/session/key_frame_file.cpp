#include "app/session/key_frame_file.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/settings.h"

namespace echolux {
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
    throw Error(ErrorCode::bad_setting, "is not a way to go on from a key", entry.where,
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

}  // namespace echolux
