// Settings of the mapping from values to colour and extinction: the curve and the range of values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <glm/vec3.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/described.h"
#include "compute/types.h"

namespace echolux {

// ---- Transfer functions over two axes: the value, and the gradient, the curvature or the distance below a surface.
// Widgets define the visible regions of this plane: boxes, arcs along the curves that material boundaries trace in it
// (J. Kniss, G. Kindlmann, C. Hansen, "Multidimensional transfer functions for interactive volume rendering", IEEE TVCG
// 8(3), 2002), and brush strokes.

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

// Source of automatic range ends: fixed at the first volume, or percentiles of each volume.
enum class RangeSource { fixed, percentile };

// A bound at its extreme is automatic: from the curve, else from the volume.
constexpr double lowest_value = -1e12;
constexpr double highest_value = 1e12;

constexpr double no_roughness = -1;  // use the roughness of the view

struct TransferNode {
    double value;
    double red, green, blue;
    double extinction;                // per TransferCurve::length_um
    double roughness = no_roughness;  // of surfaces in traced pictures; set in all nodes of a curve or in none

    bool operator==(const TransferNode&) const = default;
};

// A piecewise linear curve from a preset or file.
struct TransferCurve {
    std::vector<TransferNode> nodes;       // at least two, with ascending values
    std::string unit{};                    // of the values; empty: unit of the volume
    bool is_relative = false;              // the values have no unit: the curve always spans the volume's range
    double length_um = 0;                  // reference length of the extinctions; 0: depth of the volume
    std::optional<TransferPlane> plane{};  // for curves over two axes

    bool operator==(const TransferCurve&) const = default;
};

struct Curve {
    std::string preset = "automatic";   // name of a shipped or user-defined transfer function
    std::string transfer;               // file that replaces the preset
    std::string colour_map = "preset";  // or the name of a colour map that replaces the colours
    double low = lowest_value;
    double high = highest_value;
    RangeSource range = RangeSource::fixed;
    double opacity = 1;            // factor on the extinction
    double opacity_length_um = 0;  // replaces TransferCurve::length_um; 0: automatic
    double isovalue = lowest_value;

    // Content of the files named by `transfer` and by a user-defined `preset`. The code that sets their names also
    // reads them.
    std::optional<TransferCurve> transfer_curve;
    std::optional<TransferCurve> own_preset;
};

template <>
const std::vector<Field<Curve>>& describe<Curve>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Curve& curve);

// ---- Transfer functions shipped with the program (assets/transfer), in the unit of their values. app/transfer reads
// and validates user-defined ones, which are part of the view.

inline constexpr std::string_view automatic_preset = "automatic";

// Returns true for the names of shipped presets and for "automatic".
bool is_shipped_preset(std::string_view name);

// Returns the curve of a preset, with extinctions per depth of the volume. "automatic" depends on the volume's
// quantity; unknown names give "gray".
const TransferCurve& preset_curve(std::string_view preset, const VolumeGrid& grid);

// ---- Perceptually uniform colour maps that are also readable for colour-blind users. They are files of colours,
// shipped (assets/colour_maps) or user-defined.

// Two or more colours (RGB, 0 to 1) at evenly spaced levels from 0 to 1, interpolated linearly.
using ColourMap = std::vector<glm::dvec3>;

// Loads a user-defined or else a shipped colour map. Throws Error{bad_file} with file and line, Error{bad_setting} if
// neither exists.
ColourMap colour_map(std::string_view name);

// Returns the map for signed speeds: 0.5 is rest (gray), 0 and 1 are the fastest flow in either direction (blue,
// orange).
const ColourMap& flow_map();

// Returns the colour at a level, clamped to [0, 1].
glm::dvec3 colour_at(const ColourMap& map, double level);

}  // namespace echolux
