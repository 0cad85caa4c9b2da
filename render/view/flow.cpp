#include "render/view/flow.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<FlowOverlay>>& describe<FlowOverlay>() {
    constexpr Effect view = Effect::view;
    constexpr double max = 1e9;
    static const std::vector<Field<FlowOverlay>> fields{
        choice<FlowOverlay>("flow_shown", &FlowOverlay::flow_shown, {"overlay", "alone"}, view,
                            "overlay: in colour over the structure; alone: in place of the structure"),
        number<FlowOverlay>("flow_threshold", &FlowOverlay::flow_threshold, -1, max, "", view,
                            "slower flow is not shown, in the unit of the flow (mm/s); -1: a tenth of the range")
            .special(-1, "auto")
            .soft(0, 10),
        number<FlowOverlay>("flow_range", &FlowOverlay::flow_range, 0, max, "", view,
                            "speed at the ends of the colours, in the unit of the flow; 0: the largest there is")
            .special(0, "auto")
            .soft(0, 50),
        number<FlowOverlay>("flow_opacity", &FlowOverlay::flow_opacity, 0, 1, "", view,
                            "opacity of flow over the structure"),
        number<FlowOverlay>("flow_v_max", &FlowOverlay::flow_v_max, 0, max, "", view,
                            "axial velocity at a phase of pi, where flow is stored as phasors; 0: that of the file, "
                            "else velocities are in rad")
            .special(0, "auto")
            .soft(0, 50),
    };
    return fields;
}

void check_part(const FlowOverlay& flow) {
    if (flow.flow_range == 0 || flow.flow_threshold < flow.flow_range) return;
    throw Error(ErrorCode::bad_setting, "the threshold hides the whole range", "view.flow_threshold, view.flow_range",
                "lower the one or raise the other");
}

}  // namespace echolux
