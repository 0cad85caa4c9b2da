// Lengths that a thread block can transform by itself (line_transform.cuh), and their twiddle factors.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "compute/cuda/twiddles.h"
#include "compute/error.h"

namespace echolux::cuda {

// For 2^9 ... 2^13 points.
template <int log2_length>
struct TransformSize {
    static constexpr int log2_n = log2_length;
    static constexpr int n = 1 << log2_n;
    static constexpr int threads = n / 16;
    static constexpr bool four_stages = log2_n == 13;
    static constexpr int last_radix = four_stages ? 2 : n / 256;
    static constexpr int last_twiddles = twiddle_rows(16) * (four_stages ? 16 + 256 : 16);  // their offset in the table
    static constexpr int exchange_points = n + n / 16;                                      // in shared memory
};

inline bool has_transform_size(std::int64_t n) {
    return n >= 512 && n <= 8192 && std::has_single_bit(static_cast<std::uint64_t>(n));
}

// Calls use(TransformSize) for a supported length. Throws Error{bad_setting} for any other.
template <class Use>
void with_transform_size(std::int64_t n, const Use& use) {
    switch (n) {
        case 512: return use(TransformSize<9>{});
        case 1024: return use(TransformSize<10>{});
        case 2048: return use(TransformSize<11>{});
        case 4096: return use(TransformSize<12>{});
        case 8192: return use(TransformSize<13>{});
        default: throw Error(ErrorCode::bad_setting, "no block of threads transforms this length", "transform");
    }
}

// Returns the factors of all stages but the first, one stage after another.
inline std::vector<float2> transform_twiddles(std::int64_t n) {
    std::vector<float2> table;
    with_transform_size(n, [&](auto size) {
        using Size = decltype(size);
        append_twiddles(table, 16, 16);
        if (Size::four_stages) append_twiddles(table, 16, 256);
        append_twiddles(table, Size::last_radix, Size::n / Size::last_radix);
    });
    return table;
}

}  // namespace echolux::cuda
