// A single pass over all voxels of a large volume, page by page on all cores. It computes the coarse level and the
// range of values of each brick. Only the coarse level must reach the device before the first picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "render/slots/page_layout.h"
#include "render/slots/voxel_codes.h"
#include "render/slots/voxel_source.h"

namespace echolux {

struct ValueBounds {  // as texture values
    float min, max;
};

struct PageSurvey {
    std::vector<std::byte> coarse;    // layout.coarse_voxels voxels in the texture's format: means of boxes of voxels
    std::vector<ValueBounds> bricks;  // range within each brick, depth fastest
};

// Returns the survey of a volume. `brick_edge` is a power of two. `done` is called on the calling thread with the
// number of voxels finished since the last call; it may throw to cancel. Throws the errors of the source.
PageSurvey surveyed(const VoxelSource& source, const PageLayout& layout, const StoredCodes& storage, int brick_edge,
                    const std::function<void(std::int64_t voxels)>& done);

}  // namespace echolux
