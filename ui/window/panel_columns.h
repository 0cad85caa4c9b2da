// Panels at the sides and below the panes. Each panel has a heading that folds it; the width of each side can be
// changed by dragging.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "render/picture.h"
#include "ui/panels/panel.h"

namespace echolux {

class PanelColumns {
  public:
    PanelColumns() : panels_(make_panels()) {}

    // Draws one side and the handle that changes its width.
    void draw_side(const PanelContext& context, PanelSide side, const Region& place);

    // Draws the panels below the panes. Their height was measured in the last frame.
    void draw_bottom(const PanelContext& context, const Region& place);
    std::int64_t bottom_height(const PanelContext& context) const;

    // Unfolds or folds the panel with this id.
    static void toggle(Workspace& work, std::string_view id);
    static bool is_open(const Workspace& work, std::string_view id);

    const std::vector<std::unique_ptr<Panel>>& panels() const { return panels_; }

  private:
    void draw_panel(const PanelContext& context, Panel& panel);

    std::vector<std::unique_ptr<Panel>> panels_;
    float bottom_height_ = 0;  // at scale 1
};

}  // namespace echolux
