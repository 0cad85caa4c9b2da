// A section of settings as TOML with all keys, for provenance, pictures and sessions.
#pragma once

#include <string>

#include "engine/scan/settings.h"

namespace echolux {

template <class S>
std::string section_toml(const std::string& section, S part) {
    Settings settings;
    settings.bind(section, part);
    return settings.toml(true);
}

}  // namespace echolux
