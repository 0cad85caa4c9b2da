// Reductions over the threads of a warp or block in a fixed order, so that a line has the same bits in every launch.
#pragma once

#include <array>
#include <bit>
#include <type_traits>

namespace echolux::cuda {

// Max that ignores NaN.
struct Larger {
    template <class Real>
    __device__ Real operator()(Real a, Real b) const {
        return fmax(a, b);
    }
};

struct Sum {
    template <class Value>
    __device__ Value operator()(Value a, Value b) const {
        return a + b;
    }
};

// Returns the value of another lane: a number, or a struct of 32-bit words.
template <class Value>
__device__ inline Value of_lane(Value value, int distance) {
    if constexpr (std::is_arithmetic_v<Value>) {
        return __shfl_xor_sync(0xffffffffu, value, distance);
    } else {
        auto words = std::bit_cast<std::array<unsigned, sizeof(Value) / sizeof(unsigned)>>(value);
        for (unsigned& word : words) word = __shfl_xor_sync(0xffffffffu, word, distance);
        return std::bit_cast<Value>(words);
    }
}

// All threads of the warp must call it, and all receive the result.
template <class Value, class Join>
__device__ inline Value over_warp(Value value, Join join) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value = join(value, of_lane(value, distance));
    return value;
}

// All threads of the block must call it, up to 1024 in whole warps, and all receive the result. `shared`: [32], must be
// free on entry and is in use until the block's next barrier.
template <class Value, class Join>
__device__ inline Value over_block(Value value, Join join, Value* shared) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    value = over_warp(value, join);
    if (warps == 1) return value;
    if (lane == 0) shared[warp] = value;
    __syncthreads();
    value = shared[0];
    for (int i = 1; i < warps; ++i) value = join(value, shared[i]);
    return value;
}

}  // namespace echolux::cuda
