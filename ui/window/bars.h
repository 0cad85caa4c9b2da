// The bars at the window's top and bottom.
#pragma once

#include <string>

#include "render/region.h"
#include "ui/panels/panel.h"

namespace echolux {

// At the top: menus made of actions, what is open, whether it runs, and, loudest, whether it records.
class TopBar {
  public:
    void draw(const PanelContext& context, const Region& place);

  private:
    void draw_state(const PanelContext& context, const Region& place);

    double recording_since_s_ = -1;  // negative: nothing is recorded
};

// What is written on the window's frame.
std::string window_title(Workspace& work);

// At the bottom: what draws and reconstructs, how fast, running jobs that can be cancelled, and the newest notice.
void draw_status_line(const PanelContext& context, const Region& place);

}  // namespace echolux
