// Look of the interface: embedded fonts, surfaces in four levels, and one accent colour, in a dark and a light theme.
#pragma once

#include <string>

#include "ui/panels/panel.h"

namespace echolux {

// Loads the fonts for style.scale into the atlas of the current context and into the style.
void load_fonts(Style& style);

constexpr float badge_opacity = 0.16f;  // of the area behind the state of a source

// Sets the colours of a style. Text over pictures keeps the dark theme, because pictures are dark.
void set_colours(Style& style, WindowTheme theme);

// Sets colours and sizes of the current context to those of the style.
void apply_theme(const Style& style);

// Packed colour for ImGui draw lists.
inline ImU32 shade(const ImVec4& colour, float alpha = 1) {
    return ImGui::ColorConvertFloat4ToU32({colour.x, colour.y, colour.z, colour.w * alpha});
}

// ---- Draws key combinations as keycaps, such as "Ctrl" "K".

// Draws keys that end at `right_middle` and returns their width.
float draw_keys_right(const Style& style, ImVec2 right_middle, const std::string& keys);

// Draws keys that begin at `left_middle` and returns their width.
float draw_keys_left(const Style& style, ImVec2 left_middle, const std::string& keys);

float width_of_keys(const Style& style, const std::string& keys);

}  // namespace echolux
