// What is cut away before anything is seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/describe.h"

namespace echolux {

struct Cut {
    std::vector<double> clip_low{0, 0, 0};  // depth, A-scans, B-scans; fractions of the volume
    std::vector<double> clip_high{1, 1, 1};
};

template <>
const std::vector<Field<Cut>>& describe<Cut>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Cut& cut);

}  // namespace echolux
