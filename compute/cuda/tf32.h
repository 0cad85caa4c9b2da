// Floats as the tensor cores take them.
#pragma once

#include <bit>
#include <cstdint>

#include "compute/host_device.h"

namespace echolux::cuda {

// To ten bits of mantissa, to the nearest, ties to even: what the tensor cores keep of a float.
ECHOLUX_HD inline float rounded_to_tf32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

}  // namespace echolux::cuda
