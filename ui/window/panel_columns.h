// The panels at the sides and below the panes: each with a heading that folds it, each side as wide as it was drawn.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "render/region.h"
#include "ui/panels/panel.h"

namespace echolux {

class PanelColumns {
  public:
    PanelColumns() : panels_(make_panels()) {}

    // The left or right side, with the line by which it is made wider.
    void draw_side(const PanelContext& context, PanelSide side, const Region& place);

    // Below the panes; its place is as high as the last picture showed that it has to be.
    void draw_bottom(const PanelContext& context, const Region& place);
    std::int64_t bottom_height(const PanelContext& context) const;

    // Unfolds or folds a panel by its id.
    static void toggle(Workspace& work, std::string_view id);
    static bool is_open(const Workspace& work, std::string_view id);

    const std::vector<std::unique_ptr<Panel>>& panels() const { return panels_; }

  private:
    void draw_panel(const PanelContext& context, Panel& panel);

    std::vector<std::unique_ptr<Panel>> panels_;
    float bottom_height_ = 0;  // at scale 1
};

}  // namespace echolux
