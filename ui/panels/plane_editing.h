// Editing a transfer function over two axes, as plain functions from plane to plane: widgets are added, dragged by
// their handles or as a whole, taken away; another second axis is chosen.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "render/transfer_function.h"

namespace echolux {

// What is held of a widget. No handle: all of it.
struct WidgetHold {
    std::size_t widget = 0;
    std::optional<std::size_t> handle;

    bool operator==(const WidgetHold&) const = default;
};

// Box: its corners, low and high value in turn, from the low second axis up. Arc: where it stands left, right, its top.
// Stroke: none.
std::vector<PlanePoint> handles_of(const TransferWidget& widget);

// A new one in the middle of what is shown; a stroke begins at `at`.
TransferPlane with_widget(TransferPlane plane, WidgetShape shape, const ValueRange& values, const PlanePoint& at);
TransferPlane without_widget(TransferPlane plane, std::size_t widget);
TransferPlane with_stroke_led_on(TransferPlane plane, std::size_t stroke, const PlanePoint& to);

// Handles stay on their side of the others.
TransferPlane with_handle_moved(TransferPlane plane, const WidgetHold& held, const ValueRange& values,
                                const PlanePoint& to);
TransferPlane with_widget_moved(TransferPlane plane, std::size_t widget, const PlanePoint& by);

// Widgets stay where they are in the picture; the ends are those that are usual for the axis.
TransferPlane with_second_axis(const TransferPlane& plane, SecondAxis second, const TransferFunction& function,
                               const VolumeGrid& grid);
TransferPlane first_plane(const TransferFunction& function, const VolumeGrid& grid);

// What lies under a place: a handle of the selected widget first, then the last widget that there is any of.
// `per_value`, `per_second`: pixels.
struct PlaneScale {
    double per_value, per_second;
};
std::optional<WidgetHold> widget_under(const TransferFunction& function, const PlanePoint& at, const PlaneScale& scale,
                                       double reach, std::optional<std::size_t> selected);

}  // namespace echolux
