// From the measure of one ray to what is said of the voxel that it met.
#pragma once

#include <optional>

#include "compute/types.h"
#include "render/offscreen.h"
#include "render/view/view.h"

namespace echolux {

// The view with which a probe's ray is cast: as fine as rays get, nothing left to chance.
View probing(View view);

// Throws Error{bad_setting} for a pixel outside of the picture.
void check_pixel(const View& view, std::int64_t x, std::int64_t y);

// None where the ray of the pixel met nothing.
std::optional<Probe> probe_of(const RayMeasure& measure, const View& view, const VolumeGrid& grid, std::int64_t x,
                              std::int64_t y);

}  // namespace echolux
