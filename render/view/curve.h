// Settings of the mapping from values to colour and extinction: the curve and the range of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "render/view/curve_plane.h"

namespace echolux {

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

}  // namespace echolux
