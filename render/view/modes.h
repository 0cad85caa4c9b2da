// What single modes can be told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

struct Modes {
    double attenuation = 8;
    double mida_balance = 0;
    double point_size = 0.8;
};

template <>
const std::vector<Field<Modes>>& describe<Modes>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Modes& modes);

}  // namespace echolux
