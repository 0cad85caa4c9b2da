// The largest of each few voxels of a line: what Places::peaks is filled with on the host. On a GPU the kernels that
// hold the codes find them (compute/cuda/peaks.cuh).
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/place.h"
#include "compute/types.h"

namespace echolux {

// Throws Error{bad_setting} for peaks of complex voxels and of other than 4 or 8 depths.
void check_peaks(const Peaks& peaks, VoxelType type);

// Of a line of `depth` codes of a type that check_peaks() takes; values are numbers.
void store_peaks(VoxelType type, const std::byte* codes, std::int64_t depth, std::int64_t depths, std::byte* peaks);

}  // namespace echolux
