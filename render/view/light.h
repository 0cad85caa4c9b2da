// Settings of the lighting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

enum class Lamp { headlight, free };

struct Light {
    bool lighting = true;
    double lighting_strength = 0.8;
    Lamp lamp = Lamp::headlight;
    double lamp_azimuth_deg = -40;   // to the right of the eye
    double lamp_elevation_deg = 40;  // above the eye
    double gradient_radius = 2;      // in voxels to either side
    double ambient_occlusion = 0;
    double shadows = 0;
};

template <>
const std::vector<Field<Light>>& describe<Light>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Light& light);

}  // namespace echolux
