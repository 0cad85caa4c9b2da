// Lists of planes (view.slices, view.clip_planes) as rows: the axis that a plane lies across, its offset along it, and
// a mark to take it away. Oblique planes show the three numbers of their normal.
#pragma once

#include <string>

#include "ui/panels/panel.h"

namespace echolux {

// `most`: that there may be. Nothing where the setting is not there now.
void plane_list(const PanelContext& context, const std::string& key, std::size_t most, const char* add_label);

}  // namespace echolux
