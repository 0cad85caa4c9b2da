#include "app/session/key_frame_file.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compute/error.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

constexpr double longest_s = 1e6;

double time_of(const TomlEntry& entry) {
    const FieldText time{"time_s", "s", "", Effect::view, 0, longest_s, {}};
    return std::get<double>(checked(time, 0.0, entry.value, entry.where));
}

Value checked_value(const TomlEntry& entry) {
    std::vector<std::string_view> names{"time_s"};
    for (const Field<View>& field : describe<View>()) {
        const Value like = field.get({});
        if (field.name == entry.name) return checked(field, like, entry.value, entry.where);
        names.push_back(field.name);
    }
    const std::string near = nearest_name(entry.name, names);
    throw Error(ErrorCode::bad_setting, "unknown key", entry.where,
                near.empty() ? "the keys are those of the section [view]" : "did you mean \"" + near + "\"?");
}

}  // namespace

KeyFrames read_key_frames(const std::filesystem::path& path) {
    KeyFrames frames;
    for (const std::vector<TomlEntry>& table : toml_tables(path, "key")) {
        const auto time = std::ranges::find(table, "time_s", &TomlEntry::name);
        if (time == table.end()) {
            throw Error(ErrorCode::bad_setting, "a key has no time", path.string() + ", time_s", "e.g. time_s = 2.5");
        }
        std::map<std::string, Value> values;
        for (const TomlEntry& entry : table) {
            if (entry.name != "time_s") values.emplace(entry.name, checked_value(entry));
        }
        frames.add(time_of(*time), values, time->where);
    }
    return frames;
}

}  // namespace echolux
