// How kernels that do a little work for each element are spread over the GPU: a block of threads for each line, or one
// thread for each element of a flat range.
#pragma once

#include <algorithm>
#include <cstdint>

namespace echolux::cuda {

inline constexpr int threads_of_a_line = 256;
inline constexpr int threads_of_a_range = 256;

inline unsigned blocks_for(std::int64_t elements) {
    return static_cast<unsigned>((elements + threads_of_a_range - 1) / threads_of_a_range);
}

// Of a block whose threads take depths of one line: whole warps, no more than have work.
inline unsigned threads_for_depths(std::int64_t depth) {
    constexpr std::int64_t warp = 32;
    return static_cast<unsigned>(std::clamp<std::int64_t>((depth + warp - 1) / warp * warp, warp, threads_of_a_range));
}

// Lines of a block whose threads fetch tables once for all of them.
inline constexpr int lines_that_share = 4;

inline unsigned blocks_for_lines(std::int64_t lines) {
    return static_cast<unsigned>((lines + lines_that_share - 1) / lines_that_share);
}

#ifdef __CUDACC__
// Index of this thread in a flat range.
__device__ inline std::int64_t element() {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
#endif

}  // namespace echolux::cuda
