// Editing of two-dimensional transfer functions as pure functions from plane to plane: add, move, reshape and remove
// widgets, and change the second axis.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compute/plan/describe.h"
#include "render/transfer_function.h"

namespace echolux {

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

}  // namespace echolux
