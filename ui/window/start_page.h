// Page displayed while nothing is open: simulator, files, recent files, available instruments and a tour.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "render/picture.h"
#include "ui/panels/panel.h"
#include "ui/window/scene_drawing.h"

namespace echolux {

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
