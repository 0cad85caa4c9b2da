// Small drawings of simulated scenes: layers, vessels and reflectors in a section across the middle.
#pragma once

#include <imgui.h>

#include <map>
#include <optional>
#include <string>

#include "engine/simulate/scene_section.h"

namespace echolux {

class SceneDrawings {
  public:
    // Fills the rectangle from `low` to `high`, fading at its left into `beside`. Nothing where the scene cannot be
    // read: opening it tells why.
    void draw(ImDrawList& list, const std::string& scene, ImVec2 low, ImVec2 high, const ImVec4& beside);

  private:
    const SceneSection* section_of(const std::string& scene);

    std::map<std::string, std::optional<SceneSection>> sections_;
};

}  // namespace echolux
