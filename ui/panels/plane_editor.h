// Editor for the second axis of a transfer function, drawn over the histogram of the volume. Mouse: drag widgets or
// their handles, paint strokes, right click to remove a widget.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compute/plan/describe.h"
#include "render/transfer_function.h"
#include "ui/panels/panel.h"

namespace echolux {

// ---- Editing of two-dimensional transfer functions as pure functions from plane to plane: add, move, reshape and
// remove widgets, and change the second axis.

// A grabbed widget or one of its handles.
struct WidgetHold {
    std::size_t widget = 0;
    std::optional<std::size_t> handle;

    bool operator==(const WidgetHold&) const = default;
};

// Returns the handles of a widget. Box: its corners, by rows from the low end of the second axis. Arc: its left foot,
// right foot and top. Stroke: none.
std::vector<PlanePoint> handles_of(const TransferWidget& widget);

// Adds a widget in the middle of the visible range. A stroke starts at `at`.
TransferPlane with_widget(TransferPlane plane, WidgetShape shape, const ValueRange& values, const PlanePoint& at);
TransferPlane without_widget(TransferPlane plane, std::size_t widget);
TransferPlane with_stroke_led_on(TransferPlane plane, std::size_t stroke, const PlanePoint& to);  // appends a point

// Moves a handle. Handles cannot pass each other.
TransferPlane with_handle_moved(TransferPlane plane, const WidgetHold& held, const ValueRange& values,
                                const PlanePoint& to);
TransferPlane with_widget_moved(TransferPlane plane, std::size_t widget, const PlanePoint& by);

// Changes the second axis and sets its default range. Widgets keep their position in the picture.
TransferPlane with_second_axis(const TransferPlane& plane, SecondAxis second, const TransferFunction& function,
                               const VolumeGrid& grid);
// Returns a plane without widgets over value and gradient.
TransferPlane first_plane(const TransferFunction& function, const VolumeGrid& grid);

// Returns the widget or handle at a position: handles of the selected widget first, then the topmost widget. `scale` is
// in pixels per unit; `reach` is the grab distance in pixels.
struct PlaneScale {
    double per_value, per_second;
};
std::optional<WidgetHold> widget_under(const TransferFunction& function, const PlanePoint& at, const PlaneScale& scale,
                                       double reach, std::optional<std::size_t> selected);

// ---- Picture of a two-dimensional transfer function: the histogram of the volume, with denser shading for more
// voxels, and the widgets above it.

struct PlanePicture {
    const PanelContext& context;
    const TransferFunction& function;  // with two axes
    const std::optional<PlaneHistogram>& histogram;
    ImVec2 low, high;  // corners in pixels

    float x_of(double value) const;
    float y_of(double second) const;
    PlanePoint at(ImVec2 pixel) const;
    PlaneScale scale() const;  // in pixels per unit
};

void draw_plane(const PlanePicture& picture, std::optional<std::size_t> selected);

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
    void begin_drag(const Edited& edited, const PlanePicture& picture);
    void drag(const Edited& edited, const PlanePicture& picture);
    void end_drag(const Edited& edited);
    void draw_selected(const Edited& edited);

    std::optional<std::size_t> selected_;
    std::optional<WidgetHold> held_;
    PlanePoint grip_;  // last position of the pointer
    bool has_moved_ = false;
    // The brush is on.
    bool paints_ = false;
};

}  // namespace echolux
