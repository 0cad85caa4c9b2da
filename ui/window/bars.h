// Bars at the top and bottom of the window.
#pragma once

#include <cstdint>
#include <string>

#include "render/picture.h"
#include "ui/panels/panel.h"

namespace echolux {

// Top bar with menus built from actions, the name of the open document, and the states of the source and of a
// recording.
class TopBar {
  public:
    void draw(const PanelContext& context, const Region& place);

  private:
    void draw_state(const PanelContext& context, const Region& place);

    double recording_since_s_ = -1;  // start of the recording; negative: none
};

// Returns the title for the frame of the window.
std::string window_title(Workspace& work);

// Status line with the newest notice, the running job with a button to cancel it, and devices with their rates. Each
// part has a fixed position, so that no change moves the others.
class StatusLine {
  public:
    void draw(const PanelContext& context, const Region& place);

  private:
    void draw_notice(const PanelContext& context, float left, float right, float middle);

    std::uint64_t held_ = 0;  // the notice under the pointer, which stays visible; 0: none
};

// Draws the newest error in full above the picture for 15 s, or until it is dismissed. Clicks pass through.
void draw_problem(const PanelContext& context, const Region& centre);

// Returns the newest notice to display, or nullptr.
const Notice* notice_to_show(Workspace& work);

}  // namespace echolux
