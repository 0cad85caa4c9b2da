// A second volume of the same moment, flow, coloured over the structure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/describe.h"

namespace echolux {

struct FlowOverlay {
    double flow_opacity = 1;
};

template <>
const std::vector<Field<FlowOverlay>>& describe<FlowOverlay>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const FlowOverlay& flowOverlay);

}  // namespace echolux
