// The second axis of a transfer function, edited by mouse over the histogram of the volume: widgets are added, dragged
// as a whole or by their handles, painted, taken away by a right click.
#pragma once

#include <optional>

#include "ui/panels/plane_picture.h"

namespace echolux {

class PlaneEditor {
  public:
    // `bare`: the function that is edited, without view.colour_map. What it offers where that has one axis is another.
    void draw(const PanelContext& context, const TransferFunction& bare, const VolumeGrid& grid);

    std::optional<std::size_t> selected() const { return selected_; }  // widget

  private:
    struct Edited {
        const PanelContext& context;
        const TransferFunction& bare;
        const VolumeGrid& grid;

        void set(const TransferPlane& plane, Edit edit = Edit::done) const;
    };

    void draw_axis(const Edited& edited);
    void draw_tools(const Edited& edited);
    void draw_picture(const Edited& edited);
    void take_hold(const Edited& edited, const PlanePicture& picture);
    void drag(const Edited& edited, const PlanePicture& picture);
    void let_go(const Edited& edited);
    void draw_selected(const Edited& edited);

    std::optional<std::size_t> selected_;
    std::optional<WidgetHold> held_;
    PlanePoint grip_;  // where the pointer was last
    bool has_moved_ = false;
    bool paints_ = false;
};

}  // namespace echolux
