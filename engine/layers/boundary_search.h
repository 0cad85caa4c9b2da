// The search for boundaries on the CPU: the reference of compute/layers.h.
#pragma once

#include <memory>

#include "compute/layers.h"
#include "engine/layers/coarse_layers.h"

namespace echolux {

// What is given outlives it.
std::unique_ptr<BoundarySearch> boundary_search_on_cpu(const std::vector<float>& intensity, const Size3& size,
                                                       const CoarseLayers& coarse);

}  // namespace echolux
