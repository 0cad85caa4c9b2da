// The picture of a transfer function over two axes: the histogram of the volume over both, darker where more voxels
// are, and the widgets over it.
#pragma once

#include <optional>

#include "ui/panels/panel.h"
#include "ui/panels/plane_editing.h"

namespace echolux {

struct PlanePicture {
    const PanelContext& context;
    const TransferFunction& function;  // over two axes
    const std::optional<PlaneHistogram>& histogram;
    ImVec2 low, high;  // corners, in pixels

    float x_of(double value) const;
    float y_of(double second) const;
    PlanePoint at(ImVec2 pixel) const;
    PlaneScale scale() const;  // pixels
};

void draw_plane(const PlanePicture& picture, std::optional<std::size_t> selected);

}  // namespace echolux
