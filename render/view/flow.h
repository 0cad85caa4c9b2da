// Settings of the flow overlay: a second volume of the same time point, shown in colour over the structure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// under: visible only where the structure is dark.
enum class FlowShown { overlay, under, alone, hidden };

struct FlowOverlay {
    FlowShown flow_shown = FlowShown::overlay;
    double flow_threshold = -1;  // in the unit of the flow; -1: automatic
    double flow_range = 0;       // at the ends of the colours; 0: automatic
    double flow_opacity = 1;
    double flow_v_max = 0;  // mm/s at a phase of pi; 0: value of the file
    std::string flow_colour_map = "flow";
};

template <>
const std::vector<Field<FlowOverlay>>& describe<FlowOverlay>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const FlowOverlay& flow);

}  // namespace echolux
