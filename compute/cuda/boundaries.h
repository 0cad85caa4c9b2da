// The search for boundaries between layers on a GPU: see compute/layers.h.
#pragma once

#include <memory>
#include <vector>

#include "compute/layers.h"

namespace echolux::cuda {

// On the GPU that `choice` names, or the first that can be used. Throws Error{device, out_of_memory}.
std::unique_ptr<BoundarySearch> boundary_search(const std::vector<float>& intensity, const LayerTables& tables,
                                                const BackendChoice& choice);

// The whole search: see SurfaceSearchOnGpu.
std::unique_ptr<SurfaceSearchOnGpu> surface_search(const float* intensity, const SurfaceTables& tables,
                                                   const BackendChoice& choice);

}  // namespace echolux::cuda
