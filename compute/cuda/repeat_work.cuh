// Arguments of the alignment kernels, and their common access to lines and distribution of work. A slot is a repeat of
// a slow-axis position. Most kernels process the slots of a list in GPU memory, which may be empty.
#pragma once

#include "compute/cuda/flow.h"
#include "compute/cuda/repeat_alignment.h"
#include "compute/steps/repeat_alignment.h"

namespace echolux::cuda {

inline constexpr int aligning_threads = 128;
inline constexpr int aligning_warps = aligning_threads / 32;
inline constexpr int lag_count = ShiftTaps::count + 1;   // for fractions from -1 to 1
inline constexpr int fine_width = FineLags<int>::width;  // along each axis
inline constexpr int fine_lags = fine_width * fine_width;
inline constexpr int most_coarse_width = 65;  // depth lags, for half the max range on either side
inline constexpr int coarse_group = 13;       // depth lags summed per thread
inline constexpr int coarse_chunk = 32;       // A-scans of features summed per block

// Arguments of all alignment kernels: sizes, settings and device arrays. Passed by value.
struct RepeatWork {
    const float2* bins = nullptr;  // bins of the first line
    std::int64_t stride = 0;       // bins between lines
    std::int64_t position_lines = 0;
    int slow_positions = 0;
    Repeats repeats;
    int count = 0, positions = 0, depth = 0, half_positions = 0, half_depth = 0;
    int align_depth = 0, align_lines = 0, coarse_z = 0, coarse_x = 0;
    float min_power = 0, min_match = 0;
    double carrier_turns = 0;
    bool depth_flip = false;

    float *features = nullptr, *spare = nullptr;  // [slot][half_positions][half_depth]
    float* line_powers = nullptr;                 // [slow][half_positions], of the first repeat
    float* floors = nullptr;                      // [slow]
    int* bright = nullptr;                        // [slot]
    int* active = nullptr;                        // [slots], the list
    int* active_count = nullptr;
    RepeatState* states = nullptr;                    // [slow]
    float* overlap_powers = nullptr;                  // [slot][coarse_width][half_positions]
    float* correlations = nullptr;                    // [slot][coarse lags][chunks], products
    float4* coherences = nullptr;                     // [slot][positions][fine_lags], modulus of the product, powers
    Phasor* lags = nullptr;                           // [slot][positions][lag_count]
    float2* powers = nullptr;                         // [slot][positions]
    RepeatShift *tried = nullptr, *shifts = nullptr;  // [slot]
    ShiftTaps *depth_taps = nullptr, *across_taps = nullptr;  // [slot]
    float2* shifted = nullptr;                                // [slot][positions][depth]
    Phasor *phases = nullptr, *follow = nullptr;              // [slot][positions]
    int* kept = nullptr;                                      // [slow][count], repeats in temporal order
    KnownPart* known = nullptr;                               // [slow]
    int* compared = nullptr;                                  // [slow]
    float2* aligned = nullptr;                                // [slow][position_lines][depth]

    ECHOLUX_HD int slots() const { return slow_positions * count; }
    ECHOLUX_HD int coarse_width() const { return 2 * coarse_z + 1; }
    ECHOLUX_HD int coarse_lags() const { return coarse_width() * (2 * coarse_x + 1); }
    ECHOLUX_HD std::int64_t overlap(int slot, int lag) const {
        return (std::int64_t{slot} * coarse_width() + lag) * half_positions;
    }
    ECHOLUX_HD int coarse_chunks() const { return (half_positions + coarse_chunk - 1) / coarse_chunk; }

#ifdef __CUDACC__
    __device__ const float2* line(int slow, int x, std::int64_t series, int repeat) const {
        return bins + (slow * position_lines + repeats.line(x, series, repeat)) * stride;
    }
    __device__ float2* aligned_line(int slow, int x, std::int64_t series, int repeat) const {
        return aligned + (slow * position_lines + repeats.line(x, series, repeat)) * depth;
    }
    __device__ float2* shifted_line(int slot, int x) const {
        return shifted + (std::int64_t{slot} * positions + x) * depth;
    }
    __device__ std::int64_t at(int slot, int x) const {
        return std::int64_t{slot} * positions + x;
    }
#endif
};

#ifdef __CUDACC__
__device__ inline int lane_of() {
    return static_cast<int>(threadIdx.x) % 32;
}

// Returns the sum of all lanes to each of them, in a fixed order.
template <class Real>
__device__ inline Real warp_sum(Real value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}
__device__ inline Phasor warp_sum(Phasor value) {
    return {warp_sum(value.re), warp_sum(value.im)};
}

// Calls body(slot, i) for i in [0, each) of every listed slot, one warp per call.
template <class Body>
__device__ inline void each_by_warps(const RepeatWork& work, unsigned each, const Body& body) {
    const unsigned count = static_cast<unsigned>(*work.active_count) * each;
    for (unsigned i = blockIdx.x * aligning_warps + threadIdx.x / 32; i < count; i += gridDim.x * aligning_warps)
        body(work.active[i / each], static_cast<int>(i % each));
}

// Calls body(slot, i) likewise, one block per call.
template <class Body>
__device__ inline void each_by_blocks(const RepeatWork& work, unsigned each, const Body& body) {
    const unsigned count = static_cast<unsigned>(*work.active_count) * each;
    for (unsigned i = blockIdx.x; i < count; i += gridDim.x) body(work.active[i / each], static_cast<int>(i % each));
}

// Iterates over a line: each thread of the warp processes every 32nd bin, several together if the body is short.
template <int at_once = 1, class Body>
__device__ inline void each_bin(int depth, const Body& body) {
#pragma unroll at_once
    for (int z = lane_of(); z < depth; z += 32) body(z);
}
#endif

// Returns the number of blocks for work whose size is known on the GPU only: enough to occupy the GPU, and few enough
// to be cheap if there is no work, which `likely_none` indicates.
unsigned blocks_of_some(std::int64_t at_most, bool likely_none = false);

// The parts of the alignment, in this order.
void enqueue_features(cudaStream_t stream, const RepeatWork& work);
void enqueue_search(cudaStream_t stream, const RepeatWork& work);
void enqueue_laying_over(cudaStream_t stream, const RepeatWork& work);

// Finds the whole lags of the listed repeats and stores them in `tried`.
void enqueue_lags(cudaStream_t stream, const RepeatWork& work, int reference);

// Moves listed repeats in depth and computes their bulk phase relative to the reference: `shifted` and `phases`, for
// one series. `shifts` is work.shifts, or work.tried while references are tried.
void enqueue_moves(cudaStream_t stream, const RepeatWork& work, const RepeatShift* shifts, std::int64_t series,
                   int reference, bool likely_none);

}  // namespace echolux::cuda
