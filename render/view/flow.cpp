#include "render/view/flow.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<FlowOverlay>>& describe<FlowOverlay>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<FlowOverlay>> fields{
        number<FlowOverlay>("flow_opacity", &FlowOverlay::flow_opacity, 0, 1, "", view, "of the flow's colour"),
    };
    return fields;
}

void check_part(const FlowOverlay&) {}

}  // namespace echolux
