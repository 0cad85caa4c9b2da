// Computes Places::peaks, the max of each few voxels of a line, in the kernels that hold them: within a warp from
// values, which are ordered like their codes, or from a row of codes in shared memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "compute/cuda/voxel_value.cuh"

namespace echolux::cuda {

// Called by whole warps, whose threads hold the values of consecutive positions starting at a multiple of 32. Threads
// beyond the line hold -INFINITY.
__device__ inline void store_peak(const VoxelCode& code, float value, std::byte* peaks, int depths, std::int64_t place,
                                  bool is_inside) {
    constexpr unsigned all_lanes = 0xffffffffu;
    for (int apart = depths / 2; apart > 0; apart /= 2) value = fmaxf(value, __shfl_xor_sync(all_lanes, value, apart));
    if (is_inside && place % depths == 0) code.store(value, peaks, place / depths);
}

// Returns the largest byte of one or two words. GPUs compute two 16-bit maxima per instruction.
__device__ inline unsigned max_byte(unsigned a, unsigned b) {
    constexpr unsigned even = 0x00ff00ffu;
    const unsigned m = __vmaxu2(__vmaxu2(a & even, a >> 8 & even), __vmaxu2(b & even, b >> 8 & even));
    return max(m & 0xffffu, m >> 16);
}
__device__ inline unsigned max_byte(unsigned a) {
    return max_byte(a, a);
}

// Stores the peaks of the i-th sixteen bytes of a line.
__device__ inline void store_peaks_of_16(uint4 codes, std::byte* peaks, int depths, int i) {
    if (depths == 8) {
        const unsigned both = max_byte(codes.x, codes.y) | max_byte(codes.z, codes.w) << 8;
        reinterpret_cast<std::uint16_t*>(peaks)[i] = static_cast<std::uint16_t>(both);
    } else {
        reinterpret_cast<std::uint32_t*>(peaks)[i] =
            max_byte(codes.x) | max_byte(codes.y) << 8 | max_byte(codes.z) << 16 | max_byte(codes.w) << 24;
    }
}

// Order of half-precision codes by their bits.
struct AsHalf {
    __device__ static std::uint16_t key(std::uint16_t bits) { return (bits & 0x8000u) != 0 ? ~bits : bits | 0x8000u; }
    __device__ static bool less(std::uint16_t a, std::uint16_t b) { return key(a) < key(b); }
};
struct AsNumber {
    template <class Code>
    __device__ static bool less(Code a, Code b) {
        return a < b;
    }
};

// Stores the peaks of a row of codes, which may be flipped. The threads divide the peaks among them.
template <class Code, class Order = AsNumber>
__device__ inline void store_row_peaks(const std::byte* row, int depth, bool flip, std::byte* peaks, int depths, int t,
                                       int threads) {
    const auto* codes = reinterpret_cast<const Code*>(row);
#pragma unroll 1
    for (int i = t; i * depths < depth; i += threads) {
        const int first = i * depths, end = min(first + depths, depth);
        Code peak = codes[flip ? depth - 1 - first : first];
#pragma unroll 1
        for (int z = first + 1; z < end; ++z) {
            const Code code = codes[flip ? depth - 1 - z : z];
            if (Order::less(peak, code)) peak = code;
        }
        reinterpret_cast<Code*>(peaks)[i] = peak;
    }
}

__device__ inline void store_row_peaks(VoxelType type, const std::byte* row, int depth, bool flip, std::byte* peaks,
                                       int depths, int t, int threads) {
    switch (type) {
        case VoxelType::u8: return store_row_peaks<std::uint8_t>(row, depth, flip, peaks, depths, t, threads);
        case VoxelType::u16: return store_row_peaks<std::uint16_t>(row, depth, flip, peaks, depths, t, threads);
        case VoxelType::f16: return store_row_peaks<std::uint16_t, AsHalf>(row, depth, flip, peaks, depths, t, threads);
        default: store_row_peaks<float>(row, depth, flip, peaks, depths, t, threads);
    }
}

}  // namespace echolux::cuda
