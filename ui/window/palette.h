// The command palette: every action by typing some of its letters.
#pragma once

#include <string>

#include "ui/window/overlay.h"

namespace echolux {

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

}  // namespace echolux
