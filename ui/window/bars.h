// The bars at the window's top and bottom.
#pragma once

#include <cstdint>
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

// At the bottom: the newest notice, a running job that can be cancelled, and what draws and reconstructs, how fast.
// Each has a place of its own that is always there: nothing that comes, goes or grows moves anything else.
class StatusLine {
  public:
    void draw(const PanelContext& context, const Region& place);

  private:
    void draw_notice(const PanelContext& context, float left, float right, float middle);

    std::uint64_t held_ = 0;  // the notice under the pointer, which stays while it is there; 0: none
};

// The newest trouble in full, over the picture, where clicks pass through it: for a while, or until it is dismissed.
void draw_trouble(const PanelContext& context, const Region& centre);

// The newest notice that is to be seen now; nullptr: none.
const Notice* notice_to_show(Workspace& work);

}  // namespace echolux
