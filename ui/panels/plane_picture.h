// Picture of a two-dimensional transfer function: the histogram of the volume, with denser shading for more voxels, and
// the widgets above it.
#pragma once

#include <optional>

#include "ui/panels/panel.h"
#include "ui/panels/plane_editing.h"

namespace echolux {

struct PlanePicture {
    const PanelContext& context;
    const TransferFunction& function;  // with two axes
    const std::optional<PlaneHistogram>& histogram;
    ImVec2 low, high;  // corners in pixels

    float x_of(double value) const;
    float y_of(double second) const;
    PlanePoint at(ImVec2 pixel) const;
    PlaneScale scale() const;  // in pixels per unit
};

void draw_plane(const PlanePicture& picture, std::optional<std::size_t> selected);

}  // namespace echolux
