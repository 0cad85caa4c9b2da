// A small drawing of a simulated scene: its layers, vessels and reflectors in a section across its middle.
#pragma once

#include <imgui.h>

#include "engine/simulate/scene_section.h"

namespace echolux {

// Fills the rectangle from `low` to `high`, fading at its left into `beside`.
void draw_scene(ImDrawList& list, const SceneSection& section, ImVec2 low, ImVec2 high, const ImVec4& beside);

}  // namespace echolux
