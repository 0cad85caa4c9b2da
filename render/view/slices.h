// Planes inside the volume, and planes as views of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/describe.h"

namespace echolux {

struct Slices {
    std::vector<double> slices;  // four numbers a plane
};

template <>
const std::vector<Field<Slices>>& describe<Slices>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Slices& slices);

}  // namespace echolux
