// The line at the bottom: who draws and reconstructs, how fast, work under way with its way out, and the newest notice.
#pragma once

#include "render/region.h"
#include "ui/panels/panel.h"

namespace echolux {

void draw_status_line(const PanelContext& context, const Region& place);

}  // namespace echolux
