// What stands in the window while nothing is open: the simulator, files, recent files, instruments that answer, a tour.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/simulate/scene_section.h"
#include "render/region.h"
#include "ui/panels/panel.h"

namespace echolux {

class StartPage {
  public:
    void draw(const PanelContext& context, const Region& centre);

    // Repeats for instruments again.
    void look_for_sources(Workspace& work);

  private:
    struct Sources {
        bool is_known = false;
        std::vector<std::string> lines;  // as sources_found() tells them
    };

    const SceneSection* section_of(const std::string& scene);
    void draw_simulator(const PanelContext& context, float width);
    void draw_files(const PanelContext& context, float width);
    void draw_recent(const PanelContext& context, float width);
    void draw_instruments(const PanelContext& context, float width);

    std::shared_ptr<Sources> sources_;  // filled by a job
    std::map<std::string, std::optional<SceneSection>> sections_;
};

}  // namespace echolux
