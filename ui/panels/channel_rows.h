// The channels of a view as rows: volumes of the same voxels that are seen together with the volume.
#pragma once

#include "ui/panels/panel.h"

namespace echolux {

// Each with whether it is seen, its curve, range and blend, the colours of labels; and a button that adds one.
void draw_channels(const PanelContext& context);

// The button alone.
void draw_add_channel(const PanelContext& context);

}  // namespace echolux
