// What the kernels of aligning are given, and the few ways in which all of them find lines and share out work. A slot
// is a repeat of a slow position; most kernels work on the slots of a list in the GPU's memory, which may be empty.
#pragma once

#include "compute/cuda/flow_work.h"
#include "compute/cuda/repeat_alignment.h"
#include "compute/steps/repeat_alignment.h"

namespace echolux::cuda {

inline constexpr int aligning_threads = 128;
inline constexpr int aligning_warps = aligning_threads / 32;
inline constexpr int lag_count = ShiftTaps::count + 1;  // for fractions from -1 to 1
inline constexpr int fine_width = 5;                    // lags on and around the coarse one, along each axis
inline constexpr int fine_lags = fine_width * fine_width;
inline constexpr int most_coarse_width = 65;  // lags in depth, of half the greatest range on either side
inline constexpr int coarse_group = 13;       // lags in depth that a thread sums
inline constexpr int coarse_chunk = 32;       // A-scans of features that a block sums

// Where a repeat lies against another one, as RepeatAligner::Shift has it.
struct RepeatShift {
    double z = 0, x = 0;
    float match = 0;
    int whole_z = 0, whole_x = 0;
    Reason reason = Reason::ok;
};

// Of a slow position.
struct RepeatState {
    int reference = 0;   // the best so far
    int used = -1;       // repeats that fit it
    int last_tried = 0;  // whose results lie in the buffers
    int is_decided = 0;
};

// Of a slow position: what all kept repeats have.
struct KnownPart {
    std::int64_t first_x, last_x, first_z, last_z;
};

struct RepeatWork {
    const float2* bins = nullptr;  // of the first line
    std::int64_t stride = 0;       // bins from line to line
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
    int* active = nullptr;                        // [slots]: the list
    int* active_count = nullptr;
    RepeatState* states = nullptr;                    // [slow]
    float* overlap_powers = nullptr;                  // [slot][coarse_width][half_positions]
    float* correlations = nullptr;                    // [slot][coarse lags][chunks]: products
    float4* coherences = nullptr;                     // [slot][positions][fine_lags]: modulus of the product, powers
    Phasor* lags = nullptr;                           // [slot][positions][lag_count]
    float2* powers = nullptr;                         // [slot][positions]
    RepeatShift *tried = nullptr, *shifts = nullptr;  // [slot]
    ShiftTaps *depth_taps = nullptr, *across_taps = nullptr;  // [slot]
    float2* shifted = nullptr;                                // [slot][positions][depth]
    Phasor *phases = nullptr, *follow = nullptr;              // [slot][positions]
    int* kept = nullptr;                                      // [slow][count]: repeats, in the order of time
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

// The sum of all lanes, in a fixed order, for each of them.
template <class Real>
__device__ inline Real warp_sum(Real value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}
__device__ inline Phasor warp_sum(Phasor value) {
    return {warp_sum(value.re), warp_sum(value.im)};
}

// body(slot, i) for i in [0, each) of every slot of the list, a warp at a time.
template <class Body>
__device__ inline void each_by_warps(const RepeatWork& work, unsigned each, const Body& body) {
    const unsigned count = static_cast<unsigned>(*work.active_count) * each;
    for (unsigned i = blockIdx.x * aligning_warps + threadIdx.x / 32; i < count; i += gridDim.x * aligning_warps)
        body(work.active[i / each], static_cast<int>(i % each));
}

// body(slot, i) likewise, a block at a time.
template <class Body>
__device__ inline void each_by_blocks(const RepeatWork& work, unsigned each, const Body& body) {
    const unsigned count = static_cast<unsigned>(*work.active_count) * each;
    for (unsigned i = blockIdx.x; i < count; i += gridDim.x) body(work.active[i / each], static_cast<int>(i % each));
}

// What a thread of a warp needs to go over a line: every 32nd bin, some of them at once where little is done to each.
template <int at_once = 1, class Body>
__device__ inline void each_bin(int depth, const Body& body) {
#pragma unroll at_once
    for (int z = lane_of(); z < depth; z += 32) body(z);
}
#endif

// Blocks for work of which the GPU alone knows how much there is: enough to fill it, few enough to cost nothing where
// there is none, which is `likely`.
unsigned blocks_of_some(std::int64_t at_most, bool likely_none = false);

// The parts, in this order.
void enqueue_features(cudaStream_t stream, const RepeatWork& work);
void enqueue_search(cudaStream_t stream, const RepeatWork& work);
void enqueue_laying_over(cudaStream_t stream, const RepeatWork& work);

// The whole lags of what is on the list, to `tried`.
void enqueue_lags(cudaStream_t stream, const RepeatWork& work, int reference);

// Repeats of the list are moved in depth, and the phase of bulk motion against the reference is found: `shifted` and
// `phases`, of one series. As `shifts` says, or, while references are tried, as `tried` does.
void enqueue_moves(cudaStream_t stream, const RepeatWork& work, const RepeatShift* shifts, std::int64_t series,
                   int reference, bool likely_none);

}  // namespace echolux::cuda
