// Editor for the second axis of a transfer function, drawn over the histogram of the volume. Mouse: drag widgets or
// their handles, paint strokes, right click to remove a widget.
#pragma once

#include <optional>

#include "ui/panels/plane_picture.h"

namespace echolux {

class PlaneEditor {
  public:
    // `bare` is the edited function, without view.colour_map. If it has one axis, only the button to add a second axis
    // is drawn.
    void draw(const PanelContext& context, const TransferFunction& bare, const VolumeGrid& grid);

    std::optional<std::size_t> selected() const { return selected_; }  // index of the selected widget

  private:
    // Arguments of one frame.
    struct Edited {
        const PanelContext& context;
        const TransferFunction& bare;
        const VolumeGrid& grid;

        void set(const TransferPlane& plane, Edit edit = Edit::done) const;  // stores the plane in the view
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
    PlanePoint grip_;  // last position of the pointer
    bool has_moved_ = false;
    // The brush is on.
    bool paints_ = false;
};

}  // namespace echolux
