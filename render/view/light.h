// How what is seen is lit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/describe.h"

namespace echolux {

struct Light {
    bool lighting = true;
    double lighting_strength = 0.8;
};

template <>
const std::vector<Field<Light>>& describe<Light>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Light& light);

}  // namespace echolux
