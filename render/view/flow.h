// A second volume of the same moment, flow, coloured over the structure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

// `under`: through the dark parts of the structure only.
enum class FlowShown { overlay, under, alone, hidden };

struct FlowOverlay {
    FlowShown flow_shown = FlowShown::overlay;
    double flow_threshold = -1;
    double flow_range = 0;
    double flow_opacity = 1;
    double flow_v_max = 0;
    std::string flow_colour_map = "flow";
};

template <>
const std::vector<Field<FlowOverlay>>& describe<FlowOverlay>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const FlowOverlay& flow);

}  // namespace echolux
