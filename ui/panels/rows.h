// Rows whose control is a panel's own: they line up with those of settings.
#pragma once

#include <functional>
#include <string>

#include "ui/panels/panel.h"

namespace echolux {

// Where the columns of a row stand, as ImGui::SameLine() takes them.
struct RowPlaces {
    float control, unit, reset, right;
};

RowPlaces row_places(const Style& style);

// The name of a row, cut off where its control begins. The next item is the control.
void row_label(const PanelContext& context, const std::string& label);

}  // namespace echolux
