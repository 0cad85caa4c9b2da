// Every setting of the program, made from the descriptions: as a list, and as a Markdown table.
#pragma once

#include <string>
#include <vector>

#include "engine/scan/settings.h"

namespace echolux {

// Of the field only what describes it: its get() and set() may not be called.
struct ListedSetting {
    BoundField field;
    std::string effect;      // "file", "plan", "table", "view"
    bool has_range = false;  // it is a number, from field.low to field.high
};

std::vector<ListedSetting> all_settings();

std::string settings_table();

}  // namespace echolux
