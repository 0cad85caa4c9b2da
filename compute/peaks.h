// Computes Places::peaks on the host: the max of each few voxels of a line. On a GPU, the kernels that hold the codes
// compute it (compute/cuda/peaks.cuh).
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/place.h"
#include "compute/types.h"

namespace echolux {

// Checks peak settings. Throws Error{bad_setting} for complex voxels and for sizes other than 4 or 8.
void check_peaks(const Peaks& peaks, VoxelType type);

// Stores the peaks of a line of `depth` codes. The type must pass check_peaks(), and values must not be NaN.
void store_peaks(VoxelType type, const std::byte* codes, std::int64_t depth, std::int64_t depths, std::byte* peaks);

}  // namespace echolux
