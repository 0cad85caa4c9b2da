// From values to light: which curve of colour and extinction, and over which values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "render/view/curve_plane.h"

namespace echolux {

// What the ends of the range follow where neither the view nor the curve knows them.
enum class RangeSource { fixed, percentile };

// A value that is left at its extreme is chosen by the curve or from the volume.
constexpr double lowest_value = -1e12;
constexpr double highest_value = 1e12;

constexpr double no_roughness = -1;  // that of the view

struct TransferNode {
    double value;
    double red, green, blue;
    double extinction;                // per length of the curve that it belongs to
    double roughness = no_roughness;  // of surfaces, in traced light; all nodes of a curve have one, or none

    bool operator==(const TransferNode&) const = default;
};

// A piecewise linear curve, of a preset or a file.
struct TransferCurve {
    std::vector<TransferNode> nodes;  // at least two, value ascending
    std::string unit{};               // of the values; "": whatever the volume's is
    bool is_relative = false;         // the values are no such unit: the curve is always spread over the volume's range
    double length_um = 0;             // over which extinctions are counted; 0: the volume's depth
    std::optional<TransferPlane> plane{};  // of a curve over two axes

    bool operator==(const TransferCurve&) const = default;
};

struct Curve {
    std::string preset = "automatic";  // or the name of a transfer function, shipped or a user's
    std::string transfer;
    std::string colour_map = "preset";  // or the name of a colour map
    double low = lowest_value;
    double high = highest_value;
    RangeSource range = RangeSource::fixed;
    double opacity = 1;
    double opacity_length_um = 0;
    double isovalue = lowest_value;

    // What the files say that `transfer` and, where it is a user's, `preset` name: whoever sets a name reads its file.
    std::optional<TransferCurve> transfer_curve;
    std::optional<TransferCurve> own_preset;
};

template <>
const std::vector<Field<Curve>>& describe<Curve>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Curve& curve);

}  // namespace echolux
