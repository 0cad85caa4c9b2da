// Transfer functions: piecewise linear curves of colour and extinction over the range [low, high] of values. Extinction
// is per length, so that pictures are independent of the step and of the size of voxels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/types.h"
#include "render/view/view.h"
#include "shaders/shared/second.h"

namespace echolux {

// The curve of a view for a volume, in the volume's values, with its range.
struct TransferFunction {
    std::vector<TransferNode> nodes;  // ascending values from range.low to range.high
    ValueRange range;
    double length = 1;                     // reference length of the extinctions: um, or voxels without a spacing
    std::optional<TransferPlane> plane{};  // in the volume's values, per um

    bool operator==(const TransferFunction&) const = default;

    bool has_roughness() const { return nodes.front().roughness != no_roughness; }

    TransferNode at(double level) const;  // level 0 is low, 1 is high; clamped to [0, 1]

    // Returns the level below which the extinction is zero; 1 if it is zero everywhere.
    double first_visible_level() const;
};

// Returns the curve of a view for a volume: that of its file, its user-defined preset or a shipped one.
const TransferCurve& curve_of(const View& view, const VolumeGrid& grid);

// Returns the transfer function of a view for a volume. `percentiles` of the volume replace ends of the range that are
// missing in both view and curve. Throws Error{bad_setting} if the ends are in the wrong order, or if the unit of a
// file's curve differs from the volume's.
TransferFunction transfer_function(const View& view, const VolumeGrid& grid, const ValueRange& percentiles);

// Returns true if slices and sections are gray from low to high. Linear reflectivities would be black on a linear
// scale, so they have the colours of the curve, by default those of their fourth root.
bool has_gray_slices(const View& view, const VolumeGrid& grid);

// Returns the value of the isosurface; by default the middle of the range.
double isovalue_of(const View& view, const TransferFunction& function);

// Interpolates between two nodes.
TransferNode between(const TransferNode& a, const TransferNode& b, double value);

// Returns the colour of a table entry: RGBA8, opaque.
std::array<std::uint8_t, 4> bytes_of(double red, double green, double blue);

// A function at `entries` levels from 0 to 1. With two axes, extinctions are the max over the second one.
struct TransferTable {
    std::vector<float> extinctions;
    std::vector<std::array<std::uint8_t, 4>> colours;  // RGBA, opaque
};
TransferTable transfer_table(const TransferFunction& function, int entries);

// ---- Tables of transfer functions over two axes, computed from the curve and its widgets. The largest extinction
// counts; colours are averaged with the extinctions as weights, so the order of widgets does not matter.

struct PlaneEntry {
    float extinction;
    std::array<std::uint8_t, 4> colour;
};

struct PlaneTable {
    std::vector<PlaneEntry> entries;  // second_rows rows, one entry per value
    std::vector<float> largest;       // max extinction per value
};

// Returns colour and extinction at a point of the plane. The function must have one.
TransferNode seen_at(const TransferFunction& function, const PlanePoint& at);

// Returns the table for `values` evenly spaced values over the function's range.
PlaneTable plane_table(const TransferFunction& function, int values);

// Returns true if the table affects pictures in this mode.
bool uses_plane(const TransferCurve& curve, ViewMode mode);

}  // namespace echolux
