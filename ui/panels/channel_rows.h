// Rows for the channels of a view: further volumes on the same voxel grid that are displayed together.
#pragma once

#include "ui/panels/panel.h"

namespace echolux {

// Draws each channel with visibility, curve, range, blending and label colours, and a button to add a channel.
void draw_channels(const PanelContext& context);

// Draws only the button.
void draw_add_channel(const PanelContext& context);

}  // namespace echolux
