// What goes through a transform in half precision, and tables of complex numbers for it, made on the host.
#pragma once

#include <cuda_fp16.h>
#include <vector_types.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "compute/plan/params.h"

namespace echolux::cuda {

// Voxels of complex numbers, and flow, are never made of halves.
inline bool wants_halves(const ReconstructionSpec& spec) {
    return spec.recipe.precision == Precision::fast && spec.recipe.quantity != Quantity::complex &&
           spec.flow.method == FlowMethod::none;
}

// Pairs of halves, real and imaginary part, as bits.
inline std::vector<std::uint32_t> halves_of(const std::vector<float2>& values) {
    std::vector<std::uint32_t> halves;
    for (const float2 value : values) {
        const __half2 half = __floats2half2_rn(value.x, value.y);
        std::memcpy(&halves.emplace_back(), &half, sizeof(half));
    }
    return halves;
}

}  // namespace echolux::cuda
