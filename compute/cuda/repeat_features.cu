// Features of repeats for the coarse search: downsampled by two along both axes, smoothed, logarithm, mean of the
// neighbourhood subtracted. Also counts the tissue bins of a repeat.
#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/cuda/repeat_work.cuh"

namespace echolux::cuda {
namespace {

// One block per half-resolution A-scan and its two source A-scans.
__global__ void __launch_bounds__(aligning_threads) halve(RepeatWork work) {
    __shared__ float shared[32];
    __shared__ int shared_counts[32];
    const auto line = static_cast<int>(blockIdx.x);
    const int slot = line / work.half_positions, first = 2 * (line % work.half_positions);
    const int slow = slot / work.count, repeat = slot % work.count;
    float sum = 0;
    int bright = 0;
    for (int half = static_cast<int>(threadIdx.x); half < work.half_depth; half += aligning_threads) {
        float of_four = 0;
        for (int x = first; x < min(first + 2, work.positions); ++x) {
            const float2* bins = work.line(slow, x, 0, repeat);
            for (int z = 2 * half; z < min(2 * half + 2, work.depth); ++z) {
                const float power = power_of(phasor_at(bins + z));
                of_four += power;
                bright += power >= work.min_power && power > 0;
            }
        }
        work.features[std::int64_t{line} * work.half_depth + half] = 0.25f * of_four;
        sum += of_four;
    }
    sum = over_block(sum, Sum{}, shared);
    bright = over_block(bright, Sum{}, shared_counts);
    if (threadIdx.x != 0) return;
    if (repeat == 0) work.line_powers[std::int64_t{slow} * work.half_positions + first / 2] = sum;
    atomicAdd(work.bright + slot, bright);  // integers: the order does not matter
}

__global__ void __launch_bounds__(aligning_threads) find_floors(RepeatWork work) {
    __shared__ double shared[32];
    const auto slow = static_cast<int>(blockIdx.x);
    double sum = 0;
    for (int x = static_cast<int>(threadIdx.x); x < work.half_positions; x += aligning_threads)
        sum += static_cast<double>(work.line_powers[std::int64_t{slow} * work.half_positions + x]);
    sum = over_block(sum, Sum{}, shared);
    if (threadIdx.x != 0) return;
    const double mean = sum / (static_cast<double>(work.positions) * work.depth);
    work.floors[slow] = RepeatFeatures::floor(work.min_power, mean);
}

// A sample of a half-size plane: one thread per sample. blockIdx.x is an A-scan of all slots, blockIdx.y a part of its
// depths.
struct PlanePlace {
    int slot, x, z;
    std::int64_t line;  // position of its first sample

    __device__ explicit PlanePlace(const RepeatWork& work) {
        const auto of_all = static_cast<int>(blockIdx.x);
        z = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
        x = of_all % work.half_positions;
        slot = of_all / work.half_positions;
        line = std::int64_t{of_all} * work.half_depth;
    }
    __device__ bool is_in(const RepeatWork& work) const { return z < work.half_depth; }
};

// From features to spare.
__global__ void smooth_in_depth(RepeatWork work, std::int64_t reach) {
    const PlanePlace place(work);
    if (!place.is_in(work)) return;
    const WindowSpan window(place.z, 2 * reach + 1, work.half_depth);
    float sum = 0;
    for (std::int64_t i = window.begin; i < window.end; ++i) sum += work.features[place.line + i];
    work.spare[place.line + place.z] = sum / static_cast<float>(window.size());
}

enum class Then { nothing, logarithm, difference };

// From spare to features.
template <Then then>
__global__ void smooth_across(RepeatWork work, std::int64_t reach) {
    const PlanePlace place(work);
    if (!place.is_in(work)) return;
    const WindowSpan window(place.x, 2 * reach + 1, work.half_positions);
    const float share = 1 / static_cast<float>(window.size());
    const std::int64_t here = place.line + place.z;
    float sum = 0;
    for (std::int64_t i = window.begin; i < window.end; ++i)
        sum += share * work.spare[here + (i - place.x) * work.half_depth];
    if constexpr (then == Then::logarithm) sum = LogFeature{work.floors[place.slot / work.count]}(sum);
    if constexpr (then == Then::difference) sum = work.features[here] - sum;
    work.features[here] = sum;
}

}  // namespace

void enqueue_features(cudaStream_t stream, const RepeatWork& work) {
    checked(cudaMemsetAsync(work.bright, 0, static_cast<std::size_t>(work.slots()) * sizeof(int), stream),
            "clear counts of tissue");
    const auto lines = static_cast<unsigned>(std::int64_t{work.slots()} * work.half_positions);
    halve<<<lines, aligning_threads, 0, stream>>>(work);
    find_floors<<<static_cast<unsigned>(work.slow_positions), aligning_threads, 0, stream>>>(work);
    constexpr int threads = aligning_threads;
    const dim3 blocks(lines, static_cast<unsigned>((work.half_depth + threads - 1) / threads));
    const std::int64_t speckle = RepeatFeatures::of_speckle, background = RepeatFeatures::of_background;
    smooth_in_depth<<<blocks, threads, 0, stream>>>(work, speckle);
    smooth_across<Then::nothing><<<blocks, threads, 0, stream>>>(work, speckle);
    smooth_in_depth<<<blocks, threads, 0, stream>>>(work, speckle);
    smooth_across<Then::logarithm><<<blocks, threads, 0, stream>>>(work, speckle);
    smooth_in_depth<<<blocks, threads, 0, stream>>>(work, background);
    smooth_across<Then::difference><<<blocks, threads, 0, stream>>>(work, background);
    checked_launch("find features of repeats");
}

}  // namespace echolux::cuda
