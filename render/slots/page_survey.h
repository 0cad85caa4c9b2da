// What one pass over all voxels of a large volume finds, page by page on all cores: its coarse level, and the range of
// values in each brick. Only the coarse level has to reach the device before a first picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "render/slots/page_layout.h"
#include "render/slots/voxel_codes.h"
#include "render/slots/voxel_source.h"

namespace echolux {

struct ValueBounds {  // texture values
    float min, max;
};

struct PageSurvey {
    std::vector<std::byte> coarse;    // layout.coarse_voxels, as textures store them: means of boxes of voxels
    std::vector<ValueBounds> bricks;  // of each brick's own voxels, depth fastest
};

// `brick_edge` is a power of two. `done` hears how many voxels more are finished, and may throw to stop.
PageSurvey surveyed(const VoxelSource& source, const PageLayout& layout, const StoredCodes& storage, int brick_edge,
                    const std::function<void(std::int64_t voxels)>& done);

}  // namespace echolux
