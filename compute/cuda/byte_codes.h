// Optimized path for the most common conversion of depth bins to voxels: dB codes of one byte, for lines that are not
// averaged. After a matrix product this pass takes a considerable part of the time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/line_method.h"
#include "compute/cuda/target.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

// Returns the conversion for methods that hold bins in registers or shared memory, if recipe and target support it.
std::optional<ByteCodes> byte_codes(const VoxelTables& tables, const DeviceTarget& target);

// Enqueues the conversion if bins, recipe and target support it. Otherwise returns false and does nothing.
bool enqueue_byte_codes(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, const VoxelTables& tables,
                        const DeviceTarget& target);

}  // namespace echolux::cuda
