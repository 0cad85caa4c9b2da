// Rounding of floats for the tensor cores.
#pragma once

#include <bit>
#include <cstdint>

#include "compute/host_device.h"

namespace echolux::cuda {

// Rounds to ten bits of mantissa, to nearest, ties to even: the precision that tensor cores use.
ECHOLUX_HD inline float rounded_to_tf32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

}  // namespace echolux::cuda
