// Small drawings of simulated scenes: a section across the middle with layers, vessels and reflectors.
#pragma once

#include <imgui.h>

#include <map>
#include <optional>
#include <string>

#include "engine/simulate/scene.h"

namespace echolux {

class SceneDrawings {
  public:
    // Fills the rectangle from `low` to `high` and fades into `beside` at its left. Draws nothing if the scene cannot
    // be read; opening it reports the error.
    void draw(ImDrawList& list, const std::string& scene, ImVec2 low, ImVec2 high, const ImVec4& beside);

  private:
    const SceneSection* section_of(const std::string& scene);

    std::map<std::string, std::optional<SceneSection>> sections_;
};

}  // namespace echolux
