// A time point, or a coarser level of it, that the renderer reads from its file box by box.
#pragma once

#include <memory>

#include "engine/offline/series.h"
#include "render/slots/voxel_source.h"

namespace echolux {

// Reads are serialised, because the file has one reader. `series` must outlive the result.
std::shared_ptr<const VoxelSource> voxels_of(const Series& series, std::int64_t step, std::size_t level);

}  // namespace echolux
