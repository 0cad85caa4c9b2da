// The commonest way from depth bins to voxels, made lean: dB codes of one byte, of lines that are not joined. Behind a
// matrix product this pass is a good part of the time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/line_method.h"
#include "compute/cuda/target.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

// What a method that holds bins makes of them, where recipe and target allow it.
std::optional<ByteCodes> byte_codes(const VoxelTables& tables, const DeviceTarget& target);

// Enqueues and returns true where bins, recipe and target allow it; false: nothing has been done.
bool enqueue_byte_codes(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, const VoxelTables& tables,
                        const DeviceTarget& target);

}  // namespace echolux::cuda
