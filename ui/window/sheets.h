// The overlays without data of their own: about, key map, command palette, tour.
#pragma once

#include <cstddef>
#include <string>

#include "ui/window/overlay.h"

namespace echolux {

// Name, version, devices and licences.
class About : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;
};

// All keys of all actions and what the mouse does.
class KeyMap : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;
};

// The command palette: every action by typing some of its letters.
class Palette : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;

  private:
    void draw_rows(const PanelContext& context);
    void run(const PanelContext& context, const std::string& id);

    std::string typed_;
    int chosen_ = 0;
    bool follows_ = false;  // the list moves so that the chosen row is seen
};

// Five hints for the first minute, one after the other, in a corner where they hide nothing.
class Tour : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;

  private:
    std::size_t hint_ = 0;
};

}  // namespace echolux
