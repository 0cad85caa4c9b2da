// What this program is, which version, on which device, and who made the parts it stands on.
#pragma once

#include "ui/window/overlay.h"

namespace echolux {

class About : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;
};

}  // namespace echolux
