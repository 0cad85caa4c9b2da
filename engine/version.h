// Program version, set in CMakeLists.txt.
#pragma once

namespace echolux {

inline constexpr const char* version = ECHOLUX_VERSION;

}  // namespace echolux
