// Draws key combinations as keycaps, such as "Ctrl" "K".
#pragma once

#include <string>

#include "ui/panels/style.h"

namespace echolux {

// Draws keys that end at `right_middle` and returns their width.
float draw_keys_right(const Style& style, ImVec2 right_middle, const std::string& keys);

// Draws keys that begin at `left_middle` and returns their width.
float draw_keys_left(const Style& style, ImVec2 left_middle, const std::string& keys);

float width_of_keys(const Style& style, const std::string& keys);

}  // namespace echolux
