// From values to light: which curve of colour and extinction, and over which values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/describe.h"

namespace echolux {

enum class Preset { automatic, oct_gray, tissue, retina, angiogram, gray };

// An end of the range of values that is left at its extreme is chosen by the preset or from the volume.
constexpr double lowest_value = -1e12;
constexpr double highest_value = 1e12;

struct Curve {
    Preset preset = Preset::automatic;
    double low = lowest_value;
    double high = highest_value;
    double opacity = 1;
    double isovalue = 0;
};

template <>
const std::vector<Field<Curve>>& describe<Curve>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Curve& curve);

}  // namespace echolux
