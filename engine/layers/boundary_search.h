// CPU implementation of the boundary search, the reference for compute/layers.h.
#pragma once

#include <memory>

#include "compute/layers.h"
#include "engine/layers/coarse_layers.h"

namespace echolux {

// Keeps references to the arguments.
std::unique_ptr<BoundarySearch> boundary_search_on_cpu(const std::vector<float>& intensity, const Size3& size,
                                                       const CoarseLayers& coarse);

}  // namespace echolux
