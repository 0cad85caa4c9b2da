// A time point, or a coarser level of it, that the renderer reads box by box from its file.
#pragma once

#include <memory>

#include "engine/offline/series.h"
#include "render/slots/voxel_source.h"

namespace echolux {

// Reads wait for each other: the file has one reader. `series` outlives it.
std::shared_ptr<const VoxelSource> voxels_of(const Series& series, std::int64_t step, std::size_t level);

}  // namespace echolux
