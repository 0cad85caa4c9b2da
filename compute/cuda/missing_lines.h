// Writes voxels without a value (compute/missing_voxels.h) where blocks of spectra are missing.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/passes.h"
#include "compute/plan/params.h"
#include "compute/types.h"

namespace echolux::cuda {

struct MissingLines {
    std::int64_t b_scans = 0;  // positions
    std::int64_t outputs_per_b_scan = 0;
    bool are_textures = false;
};

// Enqueues the lines of structure and flow, and peaks where the target has some.
void store_missing_lines(cudaStream_t stream, const BlockTargets& targets, const Recipe& recipe, const VolumeGrid& grid,
                         const std::optional<VolumeGrid>& flow_grid, const MissingLines& lines);

}  // namespace echolux::cuda
