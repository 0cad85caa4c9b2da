// Five hints for the first minute, one after the other, in a corner where they hide nothing.
#pragma once

#include <cstddef>

#include "ui/window/overlay.h"

namespace echolux {

class Tour : public Overlay {
  public:
    void draw(const PanelContext& context, ImVec2 size) override;

  private:
    std::size_t hint_ = 0;
};

}  // namespace echolux
