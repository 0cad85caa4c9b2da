// Bars at the top and bottom of the window.
#pragma once

#include <cstdint>
#include <string>

#include "render/picture.h"
#include "ui/panels/panel.h"

namespace echolux {

// Draws the top bar with menus built from actions, the name of the open document, and for a live source its losses, its
// state, and buttons to start, stop and record. They stay reachable in a narrow window, which hides the panels.
void draw_top_bar(const PanelContext& context, const Region& place);

// Returns the title for the frame of the window.
std::string window_title(Workspace& work);

// Status line with the newest notice in two lines, the running job with a button to cancel it, and devices with their
// rates. Each part has a fixed position, so that no change moves the others and no message covers a picture.
class StatusLine {
  public:
    void draw(const PanelContext& context, const Region& place);

  private:
    void draw_notice(const PanelContext& context, int lines, float left, float right, float middle);

    std::uint64_t held_ = 0;  // the notice under the pointer, which stays visible; 0: none
};

// Returns the newest notice to display, or nullptr.
const Notice* notice_to_show(Workspace& work);

}  // namespace echolux
