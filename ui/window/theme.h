// The look of the interface: embedded fonts at a scale, dark surfaces in four steps, one accent.
#pragma once

#include "ui/panels/style.h"

namespace echolux {

// Fills the atlas of the current context for style.scale and sets the style's fonts.
void load_fonts(Style& style);

// Colours and sizes of the current context for style.scale.
void apply_theme(const Style& style);

// Behind everything, and between panes: what the screen is cleared with.
inline const ImVec4 ground{0.055f, 0.060f, 0.070f, 1};
inline const ImVec4 surface{0.094f, 0.102f, 0.118f, 1};   // of panels
inline const ImVec4 raised{0.125f, 0.135f, 0.155f, 1};    // headings, pop-ups
inline const ImVec4 hairline{0.185f, 0.197f, 0.222f, 1};  // between surfaces
inline const ImVec4 ink{0.885f, 0.900f, 0.925f, 1};       // text

// Packed, as draw lists take it.
inline ImU32 shade(const ImVec4& colour, float alpha = 1) {
    return ImGui::ColorConvertFloat4ToU32({colour.x, colour.y, colour.z, colour.w * alpha});
}

}  // namespace echolux
