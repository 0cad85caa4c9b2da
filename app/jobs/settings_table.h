// Every setting of the program, made from the descriptions: as a list, as a Markdown table, and as what may be
// assigned.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scan/settings.h"

namespace echolux {

// Of the field only what describes it: its get() and set() may not be called.
struct ListedSetting {
    BoundField field;
    std::string effect;      // "file", "plan", "table", "view"
    bool has_range = false;  // it is a number, from field.low to field.high
};

// Of scans, views, the window, the simulator and sources.
std::vector<ListedSetting> all_settings();

// Of commands alone, [layers] and [filter]: no window and no session has them.
std::vector<ListedSetting> settings_of_commands();

// For programs: key, default, unit, effect, meaning, and choices or range.
nlohmann::ordered_json object_of(const ListedSetting& setting);
nlohmann::ordered_json object_of(const Value& value);

std::string settings_table();

// "recipe.window=hann". Throws Error{bad_setting} for a key that no part of the program has, or a value that it cannot
// have.
void check_assignment(std::string_view assignment);

}  // namespace echolux
