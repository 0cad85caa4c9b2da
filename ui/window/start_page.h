// Page displayed while nothing is open: simulator, files, recent files, available instruments and a tour.
#pragma once

#include <imgui.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/simulate/scene.h"
#include "ui/panels/panel.h"

namespace echolux {

struct Region;  // render/picture.h

// ---- Small drawings of simulated scenes: a section across the middle with layers, vessels and reflectors.

class SceneDrawings {
  public:
    // Fills the rectangle from `low` to `high` and fades into `beside` at its left. Draws nothing if the scene cannot
    // be read; opening it reports the error.
    void draw(ImDrawList& list, const std::string& scene, ImVec2 low, ImVec2 high, const ImVec4& beside);

  private:
    const SceneSection* section_of(const std::string& scene);

    std::map<std::string, std::optional<SceneSection>> sections_;
};

class StartPage {
  public:
    void draw(const PanelContext& context, const Region& centre);

    // Searches for instruments again.
    void look_for_sources(Workspace& work);

  private:
    struct Sources {
        bool is_known = false;
        std::vector<std::string> lines;  // as from sources_found()
    };

    void draw_simulator(const PanelContext& context, float width);
    void draw_files(const PanelContext& context, float width);
    void draw_recent(const PanelContext& context, float width);
    void draw_instruments(const PanelContext& context, float width);

    std::shared_ptr<Sources> sources_;  // filled by a job
    SceneDrawings drawings_;
};

}  // namespace echolux
