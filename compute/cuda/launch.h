// Launch configurations for simple kernels: one thread block per line, or one thread per element of a flat range.
#pragma once

#include <algorithm>
#include <cstdint>

namespace echolux::cuda {

inline constexpr int threads_of_a_line = 256;
inline constexpr int threads_of_a_range = 256;

inline unsigned blocks_for(std::int64_t elements) {
    return static_cast<unsigned>((elements + threads_of_a_range - 1) / threads_of_a_range);
}

// Returns the block size for the depths of one line: whole warps, without idle ones.
inline unsigned threads_for_depths(std::int64_t depth) {
    constexpr std::int64_t warp = 32;
    return static_cast<unsigned>(std::clamp<std::int64_t>((depth + warp - 1) / warp * warp, warp, threads_of_a_range));
}

// Lines per block if threads load tables once for several lines.
inline constexpr int lines_that_share = 4;

inline unsigned blocks_for_lines(std::int64_t lines) {
    return static_cast<unsigned>((lines + lines_that_share - 1) / lines_that_share);
}

#ifdef __CUDACC__
// Returns the index of this thread in a flat range.
__device__ inline std::int64_t element() {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
#endif

}  // namespace echolux::cuda
