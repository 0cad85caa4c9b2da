// Reports settings of a view that have no effect because of another setting.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "render/view/view.h"

namespace echolux {

// Returns one line per key of `assignments` ("view.lights=own") that has no effect in `view`.
std::vector<std::string> unused_settings(const View& view, std::span<const std::string> assignments);

}  // namespace echolux
