// Settings that were given and change nothing, because what they belong to was not chosen: tau without compressive
// sensing, the width of a window that is not in use.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

struct Scan;

// Whether a setting changes anything as the others are.
bool has_effect(const Scan& scan, std::string_view key);

// A line for each: "defr.iterations has no effect: recipe.method is plain". `assignments` as open_scan() takes them.
std::vector<std::string> unused_settings(const Scan& scan, std::span<const std::string> assignments);

}  // namespace echolux
