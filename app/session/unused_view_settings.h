// Settings of a view that change nothing, because another one says so: whoever set them is told.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "render/view/view.h"

namespace echolux {

// One line for each key that `assignments` ("view.lights=own") set in `view` without effect.
std::vector<std::string> unused_settings(const View& view, std::span<const std::string> assignments);

}  // namespace echolux
