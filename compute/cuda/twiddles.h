// Twiddle factors of the fused kernels' transforms, computed once in double precision.
#pragma once

#include <vector_types.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace echolux::cuda {

// A butterfly of `radix` points stores only the powers w^1, w^2, w^3, w^4, w^8, w^12, w^16 that it needs. The kernel
// computes the others as products.
constexpr int twiddle_rows(int radix) {
    return radix < 4 ? radix - 1 : 3 + (radix - 1) / 4;
}

// Appends [twiddle_rows][length]: powers of w = exp(-2 pi i k / (length * radix)), k < length.
inline void append_twiddles(std::vector<float2>& table, int radix, int length) {
    constexpr int powers[] = {1, 2, 3, 4, 8, 12, 16};
    for (int row = 0; row < twiddle_rows(radix); ++row) {
        for (int k = 0; k < length; ++k) {
            const double turn = static_cast<double>(k) * powers[row] / (static_cast<double>(length) * radix);
            const double angle = -2 * std::numbers::pi * turn;
            table.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
        }
    }
}

}  // namespace echolux::cuda
