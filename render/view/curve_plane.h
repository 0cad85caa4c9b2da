// Transfer functions over two axes: the value, and the gradient, the curvature or the distance below a surface. Widgets
// define the visible regions of this plane: boxes, arcs along the curves that material boundaries trace in it (J.
// Kniss, G. Kindlmann, C. Hansen, "Multidimensional transfer functions for interactive volume rendering", IEEE TVCG
// 8(3), 2002), and brush strokes.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace echolux {

// Same order as in shaders/shared/second.h.
enum class SecondAxis { gradient, curvature, distance };

// A point of the plane.
struct PlanePoint {
    double value = 0;
    double second = 0;

    bool operator==(const PlanePoint&) const = default;
};

enum class WidgetShape { box, arc, stroke };

struct TransferWidget {
    WidgetShape shape = WidgetShape::box;
    // Box: low and high corner. Arc: left and right foot, with the height of the apex as `second` of both. Stroke: the
    // vertices of a polyline.
    std::vector<PlanePoint> points;
    double width = 0;     // half width; arc: as a fraction of its height; stroke: as a fraction of the axes
    double softness = 0;  // fraction of the half width over which the widget fades out
    std::array<double, 3> colour{1, 1, 1};
    double extinction = 0;  // per length of the curve

    bool operator==(const TransferWidget&) const = default;
};

struct TransferPlane {
    SecondAxis second = SecondAxis::gradient;
    double from = 0;  // ends of the second axis; values beyond them are clamped
    double to = 1;
    std::vector<TransferWidget> widgets;

    bool operator==(const TransferPlane&) const = default;
};

// Region of the plane that a table covers.
struct PlaneReach {
    double value_low, value_high;
    double second_low, second_high;
};

// Returns the weight of a widget at a point, 0 to 1. Box edges at or beyond the end of an axis do not fade.
double weight_at(const TransferWidget& widget, const PlanePoint& at, const PlaneReach& reach);

// Widgets in the format of files: one flat list of rows per shape.
struct WidgetLists {
    std::vector<double> boxes;  // value low, high; second low, high; softness; red, green, blue; extinction
    std::vector<double> arcs;   // value low, high; height; width; softness; red, green, blue; extinction
    std::vector<double>
        strokes;  // width; softness; red, green, blue; extinction; number of points; value, second of each
};
// Converts the widgets of a plane to the format of files.
WidgetLists lists_of(const TransferPlane& plane);

// Parses and checks widgets. Throws Error{bad_setting} that names `section` ("FILE, transfer.") and the key.
std::vector<TransferWidget> widgets_of(const WidgetLists& lists, const std::string& section);

// Names of the axes in files, in the order of SecondAxis.
inline constexpr std::array<const char*, 3> second_axis_names{"gradient", "curvature", "distance"};
// Returns the unit of the second axis for values in `value_unit`.
std::string second_unit(SecondAxis second, const std::string& value_unit);

}  // namespace echolux
