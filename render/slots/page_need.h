// Which pages of a large volume a picture needs: those that lie in it and hold values that are seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "render/slots/page_layout.h"
#include "render/slots/page_survey.h"
#include "render/slots/volume_texture.h"
#include "render/view/view.h"

namespace echolux {

// The range of each page, in and around it: whatever is interpolated there, and the slopes of what is seen there, stay
// the same as long as all pages are there that hold something to be seen. `bricks` are the survey's, of `brick_edge`.
std::vector<ValueBounds> page_bounds(const PageLayout& layout, std::span<const ValueBounds> bricks, int brick_edge);

// Numbers of pages, nearest to the eye first. `view` has been checked; `bounds` are page_bounds().
std::vector<std::int64_t> pages_needed(const View& view, const VolumeTexture& volume, const PageLayout& layout,
                                       std::span<const ValueBounds> bounds);

}  // namespace echolux
