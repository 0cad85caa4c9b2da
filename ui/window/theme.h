// Look of the interface: embedded fonts, dark surfaces in four levels, and one accent colour.
#pragma once

#include <string>

#include "ui/panels/panel.h"

namespace echolux {

// Loads the fonts for style.scale into the atlas of the current context and into the style.
void load_fonts(Style& style);

// Sets colours and sizes of the current context for style.scale.
void apply_theme(const Style& style);

// Background of the window and of the gaps between panes.
inline const ImVec4 ground{0.055f, 0.060f, 0.070f, 1};
inline const ImVec4 surface{0.094f, 0.102f, 0.118f, 1};   // panels
inline const ImVec4 raised{0.125f, 0.135f, 0.155f, 1};    // headings and pop-ups
inline const ImVec4 hairline{0.185f, 0.197f, 0.222f, 1};  // lines between surfaces
inline const ImVec4 ink{0.885f, 0.900f, 0.925f, 1};       // text

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
