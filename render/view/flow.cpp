#include "render/view/flow.h"

#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/colour_maps.h"

namespace echolux {

template <>
const std::vector<Field<FlowOverlay>>& describe<FlowOverlay>() {
    constexpr Effect view = Effect::view;
    constexpr double max = 1e9;
    static const std::vector<std::string> maps = asset_names(colour_map_files, "flow");
    static const Field<FlowOverlay> flow_maps = [] {
        Field<FlowOverlay> field = text<FlowOverlay>(
            "flow_colour_map", &FlowOverlay::flow_colour_map, view,
            "colour map of flow: its middle stands for rest, its upper end for flow away from zero delay");
        field.choices.assign(maps.begin(), maps.end());
        return field;
    }();
    static const std::vector<Field<FlowOverlay>> fields{
        choice<FlowOverlay>("flow_shown", &FlowOverlay::flow_shown, {"overlay", "under", "alone", "hidden"}, view,
                            "overlay: in colour over the structure; under: where the structure is dark; alone: in "
                            "place of the structure; hidden: the structure alone"),
        number<FlowOverlay>("flow_threshold", &FlowOverlay::flow_threshold, -1, max, "speed", view,
                            "slower flow is not shown, in the unit of the flow (mm/s); -1: a tenth of the speed that "
                            "nearly all of the flow stays below, whatever the range is set to")
            .special(-1, "auto"),
        number<FlowOverlay>("flow_range", &FlowOverlay::flow_range, 0, max, "speed", view,
                            "speed at the ends of the colours, in the unit of the flow; 0: a round number that 99.5 % "
                            "of the flow stays below")
            .special(0, "auto"),
        flow_maps,
        number<FlowOverlay>("flow_opacity", &FlowOverlay::flow_opacity, 0, 1, "", view,
                            "opacity of flow over the structure"),
        number<FlowOverlay>("flow_v_max", &FlowOverlay::flow_v_max, 0, max, "mm/s", view,
                            "axial velocity at a phase of pi, where flow is stored as phasors; 0: that of the file, "
                            "else velocities are in rad")
            .special(0, "auto")
            .soft(0, 50),
    };
    return fields;
}

void check_part(const FlowOverlay& flow) {
    if (flow.flow_colour_map != "flow") colour_map(flow.flow_colour_map);
    if (flow.flow_range == 0 || flow.flow_threshold < flow.flow_range) return;
    throw Error(ErrorCode::bad_setting, "the threshold hides the whole range", "view.flow_threshold, view.flow_range",
                "lower the one or raise the other");
}

}  // namespace echolux
