// Lists for `echolux info` and for programs: all settings, generated from their descriptions, and all presets.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/describe.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- Settings: as a list, as a Markdown table, and for checking assignments.

// Only the description of the field may be used: its get() and set() must not be called.
struct ListedSetting {
    BoundField field;
    std::string effect;      // "file", "plan", "table", "view"
    bool has_range = false;  // a number from field.low to field.high
};

// Settings of scans, views, the window, the simulator and sources.
std::vector<ListedSetting> all_settings();

// Settings used only by commands, [layers] and [filter], which no window or session has.
std::vector<ListedSetting> settings_of_commands();

// For programs: key, default, unit, effect, meaning, and choices or range.
nlohmann::ordered_json object_of(const ListedSetting& setting);
nlohmann::ordered_json object_of(const Value& value);

// Returns the table of docs/settings.md.
std::string settings_table();
// Returns the rows of the bound settings in such a table.
std::string settings_rows(const Settings& settings);

// Checks "recipe.window=hann". Throws Error{bad_setting} for an unknown key or an invalid value.
void check_assignment(std::string_view assignment);

// ---- Presets: named data, shipped or the user's own (transfer functions, colour maps, scenes, layers).

struct ListedPreset {
    std::string name;
    std::string origin;   // "shipped", or the user's file
    std::string problem;  // one line with file, key and remedy; empty if usable
};

struct PresetList {
    std::string title;
    std::vector<ListedPreset> presets;
};

// Reads every file; an invalid one does not affect the others. Without a renderer, lists only scenes and layers.
std::vector<PresetList> preset_lists();

}  // namespace echolux
