// All keys of all actions and what the mouse does, on one sheet.
#pragma once

#include "ui/window/overlay.h"

namespace echolux {

class KeyMap : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;
};

}  // namespace echolux
