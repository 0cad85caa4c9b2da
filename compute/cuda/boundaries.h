// GPU search for boundaries between layers, see compute/tissue_on_gpu.h.
#pragma once

#include <memory>
#include <vector>

#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// Uses the GPU named by `choice`, or the first usable one. Throws Error{device, out_of_memory}.
std::unique_ptr<BoundarySearch> boundary_search(const std::vector<float>& intensity, const LayerTables& tables,
                                                const BackendChoice& choice);

// Creates the complete search, see SurfaceSearchOnGpu.
std::unique_ptr<SurfaceSearchOnGpu> surface_search(const float* intensity, const SurfaceTables& tables,
                                                   const BackendChoice& choice);

}  // namespace echolux::cuda
