// Transfer functions over two axes: the value, and how steep, how bent or how far below a surface a place is. Widgets
// say where in that plane something is seen: boxes, the arcs that boundaries between two materials draw in it (J.
// Kniss, G. Kindlmann, C. Hansen, "Multidimensional transfer functions for interactive volume rendering", IEEE TVCG
// 8(3), 2002), and strokes of a brush.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace echolux {

// In the order of shaders/shared/second.h.
enum class SecondAxis { gradient, curvature, distance };

// In the plane: value, second axis.
struct PlanePoint {
    double value = 0;
    double second = 0;

    bool operator==(const PlanePoint&) const = default;
};

enum class WidgetShape { box, arc, stroke };

struct TransferWidget {
    WidgetShape shape = WidgetShape::box;
    // Box: its low and its high corner. Arc: where it stands left and right, both as high as its middle rises. Stroke:
    // the places that it goes through.
    std::vector<PlanePoint> points;
    double width = 0;     // arc: to either side, in parts of its height; stroke: to either side, in parts of the axes
    double softness = 0;  // part of it that fades towards its rim
    std::array<double, 3> colour{1, 1, 1};
    double extinction = 0;  // per length of the curve that it belongs to

    bool operator==(const TransferWidget&) const = default;
};

struct TransferPlane {
    SecondAxis second = SecondAxis::gradient;
    double from = 0;  // ends of the second axis: beyond them it is as at them
    double to = 1;
    std::vector<TransferWidget> widgets;

    bool operator==(const TransferPlane&) const = default;
};

// The part of the plane that a table covers.
struct PlaneReach {
    double value_low, value_high;
    double second_low, second_high;
};

// How much of a widget there is at a place: 0 to 1. Rims of boxes that lie at or beyond the ends of an axis do not
// fade.
double weight_at(const TransferWidget& widget, const PlanePoint& at, const PlaneReach& reach);

// As files have them: numbers in rows, each key a shape.
struct WidgetLists {
    std::vector<double> boxes;  // value low, high; second low, high; softness; red, green, blue; extinction
    std::vector<double> arcs;   // value low, high; height; width; softness; red, green, blue; extinction
    std::vector<double>
        strokes;  // width; softness; red, green, blue; extinction; number of points; value, second of each
};
WidgetLists lists_of(const TransferPlane& plane);

// Throws Error{bad_setting} naming `section` ("FILE, transfer.") and the key.
std::vector<TransferWidget> widgets_of(const WidgetLists& lists, const std::string& section);

// Names of the axes in files, in their order; and their units for one of `value_unit`.
inline constexpr std::array<const char*, 3> second_axis_names{"gradient", "curvature", "distance"};
std::string second_unit(SecondAxis second, const std::string& value_unit);

}  // namespace echolux
