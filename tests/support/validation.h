// Whether renderers of tests run under the Vulkan validation layer, whose messages fail a test. It doubles the time of
// a picture, so in the fast tests only suites that together reach every shader do (TESTS_VALIDATED in CMakeLists.txt).
// `./dev test --all` and a program started by hand validate all.
#pragma once

#include <cstdlib>
#include <string_view>

namespace echolux::test {

inline bool validates() {
    const char* off = std::getenv("ECHOLUX_TEST_VALIDATION");
    return std::getenv("ECHOLUX_VALIDATE_ALL") != nullptr || off == nullptr || std::string_view(off) != "0";
}

}  // namespace echolux::test
