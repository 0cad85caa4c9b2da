// A bar with two ends that are dragged: the clip box along an axis.
#pragma once

#include <optional>

#include "ui/panels/number_scale.h"
#include "ui/panels/panel.h"

namespace echolux {

struct RangeEdit {
    bool is_low_end = true;
    double value = 0;
    Edit edit = Edit::under_way;
};

// `value` lies within `whole` and stays at least a hundredth of it wide. Nothing: it stays as it is.
std::optional<RangeEdit> range_control(const PanelContext& context, const char* name, const ValueRange& whole,
                                       const ValueRange& value, float width);

}  // namespace echolux
