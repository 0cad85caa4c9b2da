// The time points of a series as a bar: which are ready, where playing begins and ends, which is shown; drag to go
// there.
#pragma once

#include <vector>

#include "ui/panels/panel.h"

namespace echolux {

void time_bar(const PanelContext& context, Timeline& timeline, const std::vector<Interval>& ready);

}  // namespace echolux
