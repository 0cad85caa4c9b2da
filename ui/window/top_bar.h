// The bar at the top: menus made of actions, what is open, and whether it runs and records, which cannot be overlooked.
#pragma once

#include <string>

#include "render/region.h"
#include "ui/panels/panel.h"

namespace echolux {

class TopBar {
  public:
    void draw(const PanelContext& context, const Region& place);

  private:
    void draw_state(const PanelContext& context, const Region& place);

    double recording_since_s_ = -1;  // negative: nothing is recorded
};

// What is written on the window's frame.
std::string window_title(Workspace& work);

}  // namespace echolux
