// How what is seen is lit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

enum class Lamp { headlight, free };

struct Light {
    bool lighting = true;
    double lighting_strength = 0.8;
    Lamp lamp = Lamp::headlight;
    double lamp_azimuth_deg = -40;
    double lamp_elevation_deg = 40;
    double gradient_radius = 2;
    double ambient_occlusion = 0;
    double shadows = 0;
};

template <>
const std::vector<Field<Light>>& describe<Light>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Light& light);

}  // namespace echolux
