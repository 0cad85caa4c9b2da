// Opens the plugin that does one thing wrong (plugins/hostile.c); its option selects the fault.
#pragma once

#include <algorithm>
#include <string>

#include "engine/acquire/source.h"

namespace echolux {

inline SourceRequest hostile(const std::string& library, const std::string& fault) {
    SourceRequest result{.name = "plugin:" ECHOLUX_HOSTILE_PLUGINS "/" + library + ".so," + fault,
                         .assignments = {"scan.a_scans=10", "scan.b_scans=7"},
                         .settings = {.block_b_scans = 3}};
    return result;
}

// Converts an option to a test name.
inline std::string as_name(std::string option) {
    std::ranges::replace(option, ' ', '_');
    return option;
}

}  // namespace echolux
