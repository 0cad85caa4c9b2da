// What is written and drawn over the picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/describe.h"

namespace echolux {

struct Annotations {
    bool box = true;
};

template <>
const std::vector<Field<Annotations>>& describe<Annotations>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Annotations& annotations);

}  // namespace echolux
