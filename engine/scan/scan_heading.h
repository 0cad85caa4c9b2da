// The first line of every scan TOML that this program writes: by it they are known again.
#pragma once

namespace echolux {

inline constexpr const char* scan_toml_heading = "# A scan for Echolux: what is left out has its default.\n";

}  // namespace echolux
