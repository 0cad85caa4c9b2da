// Natural logarithm with the same bits on the CPU and a GPU.
#pragma once

#include <bit>
#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// ln of a positive normal number, relative error below 3e-7. With m = 2^e f and f in sqrt(1/2) .. sqrt(2), ln f = 2
// artanh s with s = (f - 1) / (f + 1). Our own implementation, so that all backends return the same bits. These steps
// are compiled without fused multiply-add.
struct NaturalLog {
    ECHOLUX_HD float operator()(float m) const {
        constexpr std::int32_t sqrt_half = 0x3f3504f3;
        constexpr float ln_2 = 0.69314718f;
        const auto bits = std::bit_cast<std::int32_t>(m);
        const std::int32_t exponent = (bits - sqrt_half) >> 23;
        const float f = std::bit_cast<float>(bits - exponent * (1 << 23));
        const float s = (f - 1) / (f + 1), t = s * s;
        const float series = 2 * s * (1 + t * (1.0f / 3 + t * (1.0f / 5 + t * (1.0f / 7 + t * (1.0f / 9)))));
        return static_cast<float>(exponent) * ln_2 + series;
    }
};

}  // namespace echolux
