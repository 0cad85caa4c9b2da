// First line of each scan TOML file written by this program, used to recognise our own files.
#pragma once

namespace echolux {

inline constexpr const char* scan_toml_heading = "# A scan for Echolux: what is left out has its default.\n";

}  // namespace echolux
