// Settings of single view modes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

struct Modes {
    double attenuation = 8;   // attenuated-mip: optical depth of a volume of maximal values
    double mida_balance = 0;  // mida: -1 composite, 1 MIP
    double point_size = 0.8;  // points: diameter in voxels
};

template <>
const std::vector<Field<Modes>>& describe<Modes>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Modes& modes);

}  // namespace echolux
