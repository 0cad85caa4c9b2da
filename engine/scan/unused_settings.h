// Detects settings without effect, because the feature that they belong to is not selected: tau without compressive
// sensing, or the width of an unselected window.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

struct Scan;

// Returns whether a setting has an effect, given the others.
bool has_effect(const Scan& scan, std::string_view key);

// Returns a message per unused setting: "defr.iterations has no effect: recipe.method is plain". `assignments` are
// those of open_scan().
std::vector<std::string> unused_settings(const Scan& scan, std::span<const std::string> assignments);

}  // namespace echolux
