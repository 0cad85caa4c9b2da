// Key combinations drawn as keycaps: "Ctrl" "K".
#pragma once

#include <string>

#include "ui/panels/style.h"

namespace echolux {

// Ends at `right_middle`; returns its width.
float draw_keys_right(const Style& style, ImVec2 right_middle, const std::string& keys);

// Begins at `left_middle`; returns its width.
float draw_keys_left(const Style& style, ImVec2 left_middle, const std::string& keys);

float width_of_keys(const Style& style, const std::string& keys);

}  // namespace echolux
