#include "ui/panels/plane_editing.h"

#include <algorithm>
#include <cmath>

#include "compute/plan/describe.h"
#include "render/camera.h"

namespace echolux {
namespace {

constexpr double closest_ends = 1e-3;  // minimum size of a widget relative to the axes

double span_of(const ValueRange& range) {
    return range.high - range.low;
}

// Default range of the second axis, derived from the value range and the voxel size.
ValueRange usual_ends(SecondAxis second, const TransferFunction& function, const VolumeGrid& grid) {
    const auto edges = voxel_edges(grid);
    const double smallest = std::ranges::min(edges);
    if (second == SecondAxis::gradient) return {0, 0.25 * span_of(function.range) / smallest};
    if (second == SecondAxis::curvature) return {-0.5 / smallest, 0.5 / smallest};
    return {0, volume_extent(grid).x};
}

// Moves one end of an interval and keeps a minimum length `gap`.
void move_end(double& low, double& high, bool is_high, double to, double gap) {
    if (is_high)
        high = std::max(to, low + gap);
    else
        low = std::min(to, high - gap);
}

}  // namespace

std::vector<PlanePoint> handles_of(const TransferWidget& widget) {
    const auto& points = widget.points;
    switch (widget.shape) {
        case WidgetShape::box:
            return {points[0], {points[1].value, points[0].second}, {points[0].value, points[1].second}, points[1]};
        case WidgetShape::arc:
            return {{points[0].value, 0},
                    {points[1].value, 0},
                    {0.5 * (points[0].value + points[1].value), points[0].second}};
        case WidgetShape::stroke: break;
    }
    return {};
}

// Default sizes are relative to the visible range.
TransferPlane with_widget(TransferPlane plane, WidgetShape shape, const ValueRange& values, const PlanePoint& at) {
    const auto value = [&](double part) { return std::lerp(values.low, values.high, part); };
    const auto second = [&](double part) { return std::lerp(plane.from, plane.to, part); };
    TransferWidget widget{.shape = shape, .points = {}, .softness = 0.3, .colour = {1, 0.85, 0.6}, .extinction = 200};
    if (shape == WidgetShape::box) widget.points = {{value(0.4), second(0.3)}, {value(0.7), second(0.7)}};
    if (shape == WidgetShape::arc) {
        widget.points = {{value(0.2), second(0.7)}, {value(0.8), second(0.7)}};
        widget.width = 0.25;
    }
    if (shape == WidgetShape::stroke) {
        widget.points = {at};
        widget.width = 0.05;
    }
    plane.widgets.push_back(std::move(widget));
    return plane;
}

TransferPlane without_widget(TransferPlane plane, std::size_t widget) {
    plane.widgets.erase(plane.widgets.begin() + static_cast<std::ptrdiff_t>(widget));
    return plane;
}

TransferPlane with_stroke_led_on(TransferPlane plane, std::size_t stroke, const PlanePoint& to) {
    constexpr std::size_t most_points = 1024;
    auto& points = plane.widgets[stroke].points;
    if (points.size() < most_points && points.back() != to) points.push_back(to);
    return plane;
}

TransferPlane with_handle_moved(TransferPlane plane, const WidgetHold& held, const ValueRange& values,
                                const PlanePoint& to) {
    TransferWidget& widget = plane.widgets[held.widget];
    const std::size_t handle = *held.handle;
    PlanePoint &low = widget.points[0], &high = widget.points[1];
    const double value_gap = closest_ends * span_of(values), second_gap = closest_ends * (plane.to - plane.from);
    if (widget.shape == WidgetShape::box) {
        move_end(low.value, high.value, handle % 2 == 1, to.value, value_gap);
        move_end(low.second, high.second, handle / 2 == 1, to.second, second_gap);
    } else if (handle < 2) {
        move_end(low.value, high.value, handle == 1, to.value, value_gap);
    } else {
        // An arc must not become flat.
        const double height = std::abs(to.second) < second_gap ? std::copysign(second_gap, to.second) : to.second;
        low.second = high.second = height;
    }
    return plane;
}

TransferPlane with_widget_moved(TransferPlane plane, std::size_t widget, const PlanePoint& by) {
    const bool stands = plane.widgets[widget].shape == WidgetShape::arc;  // the feet of an arc stay on the value axis
    for (PlanePoint& point : plane.widgets[widget].points) {
        point = {point.value + by.value, point.second + (stands ? 0 : by.second)};
    }
    return plane;
}

TransferPlane with_second_axis(const TransferPlane& plane, SecondAxis second, const TransferFunction& function,
                               const VolumeGrid& grid) {
    const ValueRange ends = usual_ends(second, function, grid);
    TransferPlane other{second, ends.low, ends.high, plane.widgets};
    for (TransferWidget& widget : other.widgets) {
        for (PlanePoint& point : widget.points) {
            point.second = std::lerp(ends.low, ends.high, (point.second - plane.from) / (plane.to - plane.from));
        }
        if (widget.shape == WidgetShape::arc && widget.points[0].second == 0) {
            widget.points[0].second = widget.points[1].second = ends.high;
        }
    }
    return other;
}

TransferPlane first_plane(const TransferFunction& function, const VolumeGrid& grid) {
    const ValueRange ends = usual_ends(SecondAxis::gradient, function, grid);
    return {SecondAxis::gradient, ends.low, ends.high, {}};
}

// The selected widget is tested first, because its handles may overlap others.
std::optional<WidgetHold> widget_under(const TransferFunction& function, const PlanePoint& at, const PlaneScale& scale,
                                       double reach, std::optional<std::size_t> selected) {
    const TransferPlane& plane = *function.plane;
    if (selected && *selected < plane.widgets.size()) {
        const auto handles = handles_of(plane.widgets[*selected]);
        for (std::size_t i = 0; i < handles.size(); ++i) {
            const double off = std::hypot((handles[i].value - at.value) * scale.per_value,
                                          (handles[i].second - at.second) * scale.per_second);
            if (off <= reach) return WidgetHold{*selected, i};
        }
    }
    const PlaneReach whole{function.range.low, function.range.high, plane.from, plane.to};
    for (std::size_t i = plane.widgets.size(); i-- > 0;) {
        if (weight_at(plane.widgets[i], at, whole) > 0) return WidgetHold{i, {}};
    }
    return {};
}

}  // namespace echolux
