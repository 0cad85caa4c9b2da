// The program's version, as CMakeLists.txt states it.
#pragma once

namespace echolux {

inline constexpr const char* version = ECHOLUX_VERSION;

}  // namespace echolux
