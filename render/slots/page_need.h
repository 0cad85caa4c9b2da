// Selects the pages of a large volume that a picture needs: those inside the picture with visible values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "render/slots/page_layout.h"
#include "render/slots/page_survey.h"
#include "render/slots/volume_texture.h"
#include "render/view/view.h"

namespace echolux {

// Returns the range of texture values of each page and its surroundings. Interpolated values and gradients of visible
// voxels are then exact as soon as all pages with visible values are loaded. `bricks` are those of the survey, with
// edges of `brick_edge` voxels.
std::vector<ValueBounds> page_bounds(const PageLayout& layout, std::span<const ValueBounds> bricks, int brick_edge);

// Returns the numbers of the needed pages, nearest to the eye first. `view` must have been checked; `bounds` are the
// result of page_bounds().
std::vector<std::int64_t> pages_needed(const View& view, const VolumeTexture& volume, const PageLayout& layout,
                                       std::span<const ValueBounds> bounds);

}  // namespace echolux
