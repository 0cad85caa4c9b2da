// The annotations of a picture, from its view and the volume's grid. Pure: no device, no font.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute/types.h"
#include "render/annotations/sheet.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

// What the colours of flow mean.
struct FlowScale {
    double range;          // speed at the ends of the colours
    std::string unit;      // of it; "" where it is not known
    bool has_sign = true;  // false: from 0, one half of the colours
    double usual = 0;      // the range that is taken where the view leaves it open
    double threshold = 0;  // slower flow is not shown
};

// What the colours of a channel beside the volume mean. Of labels its own names say it, and there is no function.
struct ChannelLegend {
    const Channel* channel;
    std::string unit;  // of its values
    std::optional<TransferFunction> function;
};

// The range and threshold of flow as they are in use, where the view leaves them open.
void leave_nothing_open(FlowOverlay& view, const FlowScale& scale);

// Of the whole picture, whichever part of it is cast. `view` has been checked; `function` is what colours the volume,
// `flow` what colours the flow over it, where there is some.
Sheet annotations_of(const View& view, const VolumeGrid& grid, const TransferFunction& function,
                     const std::optional<FlowScale>& flow = {}, const std::vector<ChannelLegend>& channels = {});

}  // namespace echolux
