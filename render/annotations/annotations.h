// Annotations of a picture, computed from its view and the volume's grid. Pure functions: no device, no font.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute/types.h"
#include "render/annotations/sheet.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

// Scale of the flow colours.
struct FlowScale {
    double range;          // speed at the ends of the colours
    std::string unit;      // of the speed; empty if unknown
    bool has_sign = true;  // false: starts at 0 and uses one half of the colours
    double usual = 0;      // automatic range
    double threshold = 0;  // slower flow is hidden
};

// Legend of a channel. Labels have names instead of a function.
struct ChannelLegend {
    const Channel* channel;
    std::string unit;  // of the values
    std::optional<TransferFunction> function;
};

// Replaces automatic flow range and threshold of a view by their current values.
void leave_nothing_open(FlowOverlay& view, const FlowScale& scale);

// Returns the annotations of the whole picture, even if only a part of it is rendered. `view` must have been checked.
// `function` colours the volume, `flow` is the scale of the flow overlay.
Sheet annotations_of(const View& view, const VolumeGrid& grid, const TransferFunction& function,
                     const std::optional<FlowScale>& flow = {}, const std::vector<ChannelLegend>& channels = {});

}  // namespace echolux
