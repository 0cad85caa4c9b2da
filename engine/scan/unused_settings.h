// Settings that were given and change nothing, because what they belong to was not chosen: tau without compressive
// sensing, the width of a window that is not in use.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace echolux {

struct Scan;

// A line for each: "defr.iterations has no effect: recipe.method is plain". `assignments` as open_scan() takes them.
std::vector<std::string> unused_settings(const Scan& scan, std::span<const std::string> assignments);

}  // namespace echolux
