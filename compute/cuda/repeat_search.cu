// Search for the shifts of the repeats of slow-axis positions. Each repeat in turn is tried as the reference until half
// of the others match it. All positions are processed together; those already decided are no longer listed.
#include <algorithm>

#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/cuda/repeat_work.cuh"
#include "compute/indexing.h"
#include "compute/reason.h"

namespace echolux::cuda {

// ---- Sums over depth of two lines for several consecutive lags, by a warp. Each thread processes consecutive bins
// from shared memory, so that each bin of the other line is loaded once for all lags.

inline constexpr int bins_of_a_thread = 8;
inline constexpr int bins_of_a_warp = 32 * bins_of_a_thread;

// Part of a line in shared memory. A gap after each thread's bins avoids bank conflicts.
template <int lags>
struct WarpBins {
    static constexpr int bins = bins_of_a_warp + lags - 1;

    float2 padded[bins + bins / bins_of_a_thread];

    // Loads bins starting at `first`, 0 beyond the line.
    __device__ void fetch(const float2* line, int depth, int first) {
        __syncwarp();
        for (int i = lane_of(); i < bins; i += 32) {
            const int at = first + i;
            padded[i + i / bins_of_a_thread] = at >= 0 && at < depth ? __ldg(line + at) : float2{0, 0};
        }
        __syncwarp();
    }
    // Returns bin i, counted from the thread's first bin.
    __device__ Phasor own(int i) const {
        const int at = lane_of() * bins_of_a_thread + i;
        return phasor_of(padded[at + at / bins_of_a_thread]);
    }
};

// A thread's bins of the reference, zero outside tissue.
struct TissueBins {
    Phasor bin[bins_of_a_thread];

    template <int lags>
    __device__ TissueBins(WarpBins<lags>& shared, const float2* line, int depth, int first, float min_power) {
        shared.fetch(line, depth, first);
#pragma unroll
        for (int k = 0; k < bins_of_a_thread; ++k) {
            bin[k] = shared.own(k);
            if (!(power_of(bin[k]) >= min_power)) bin[k] = {};
        }
    }

    __device__ float power() const {
        float sum = 0;
#pragma unroll
        for (const Phasor& one : bin) sum += power_of(one);
        return sum;
    }
};

// Calls add(n, bin of the tissue, bin of the other line n further) for all bins of the thread and all lags.
template <int lags, class Add>
__device__ inline void at_all_lags(const TissueBins& tissue, const WarpBins<lags>& other, const Add& add) {
    Phasor window[lags];
#pragma unroll
    for (int n = 0; n < lags - 1; ++n) window[n] = other.own(n);
#pragma unroll
    for (int k = 0; k < bins_of_a_thread; ++k) {
        window[(k + lags - 1) % lags] = other.own(k + lags - 1);
#pragma unroll
        for (int n = 0; n < lags; ++n) add(n, tissue.bin[k], window[(k + n) % lags]);
    }
}

// ---- Features of repeats for the coarse search: downsampled by two along both axes, smoothed, logarithm, mean of the
// neighbourhood subtracted. Also counts the tissue bins of a repeat.

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
struct HalfPlaneSample {
    int slot, x, z;
    std::int64_t line;  // position of its first sample

    __device__ explicit HalfPlaneSample(const RepeatWork& work) {
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
    const HalfPlaneSample place(work);
    if (!place.is_in(work)) return;
    const WindowSpan window(place.z, 2 * reach + 1, work.half_depth);
    float sum = 0;
    for (std::int64_t i = window.begin; i < window.end; ++i) sum += work.features[place.line + i];
    work.spare[place.line + place.z] = sum / static_cast<float>(window.size());
}

enum class NextStep { nothing, logarithm, difference };

// From spare to features.
template <NextStep then>
__global__ void smooth_across(RepeatWork work, std::int64_t reach) {
    const HalfPlaneSample place(work);
    if (!place.is_in(work)) return;
    const WindowSpan window(place.x, 2 * reach + 1, work.half_positions);
    const float share = 1 / static_cast<float>(window.size());
    const std::int64_t here = place.line + place.z;
    float sum = 0;
    for (std::int64_t i = window.begin; i < window.end; ++i)
        sum += share * work.spare[here + (i - place.x) * work.half_depth];
    if constexpr (then == NextStep::logarithm) sum = LogFeature{work.floors[place.slot / work.count]}(sum);
    if constexpr (then == NextStep::difference) sum = work.features[here] - sum;
    work.features[here] = sum;
}

}  // namespace

void enqueue_features(cudaStream_t stream, const RepeatWork& work) {
    checked(cudaMemsetAsync(work.bright, 0, index(work.slots()) * sizeof(int), stream), "clear counts of tissue");
    const auto lines = static_cast<unsigned>(std::int64_t{work.slots()} * work.half_positions);
    halve<<<lines, aligning_threads, 0, stream>>>(work);
    find_floors<<<static_cast<unsigned>(work.slow_positions), aligning_threads, 0, stream>>>(work);
    constexpr int threads = aligning_threads;
    const dim3 blocks(lines, static_cast<unsigned>((work.half_depth + threads - 1) / threads));
    const std::int64_t speckle = RepeatFeatures::of_speckle, background = RepeatFeatures::of_background;
    smooth_in_depth<<<blocks, threads, 0, stream>>>(work, speckle);
    smooth_across<NextStep::nothing><<<blocks, threads, 0, stream>>>(work, speckle);
    smooth_in_depth<<<blocks, threads, 0, stream>>>(work, speckle);
    smooth_across<NextStep::logarithm><<<blocks, threads, 0, stream>>>(work, speckle);
    smooth_in_depth<<<blocks, threads, 0, stream>>>(work, background);
    smooth_across<NextStep::difference><<<blocks, threads, 0, stream>>>(work, background);
    checked_launch("find features of repeats");
}

// ---- Finds the shift of a repeat relative to its reference in whole samples: among all lags in range with features at
// half resolution, then around the best one by coherence, which is insensitive to the bulk motion of A-scans.

namespace {

// ---- coarse: all lags in features of half the resolution ------------------------------------------------------------

// One warp per A-scan of any slot: the power of its features that overlap at each depth lag.
__global__ void __launch_bounds__(aligning_threads) measure_features(RepeatWork work) {
    const auto line = static_cast<int>(blockIdx.x * aligning_warps + threadIdx.x / 32);
    if (line >= work.slots() * work.half_positions) return;
    const int slot = line / work.half_positions, x = line % work.half_positions, depth = work.half_depth;
    const float* features = work.features + std::int64_t{line} * depth;
    float all = 0;
    each_bin<4>(depth, [&](int z) { all += features[z] * features[z]; });
    all = warp_sum(all);
    for (int i = lane_of(); i < work.coarse_width(); i += 32) {
        const int lag = i - work.coarse_z;
        float rest = all;
        for (int z = lag > 0 ? depth - lag : 0; z < (lag > 0 ? depth : -lag); ++z) rest -= features[z] * features[z];
        work.overlap_powers[work.overlap(slot, i) + x] = rest;
    }
}

__device__ void add_line(float* products, const float* a, const float* b, int first_lag, int depth) {
    each_bin(depth, [&](int z) {
        const float at_reference = __ldg(a + z);
#pragma unroll
        for (int n = 0; n < coarse_group; ++n) {
            const int at = z + first_lag + n;
            products[n] += at_reference * (at >= 0 && at < depth ? __ldg(b + at) : 0.0f);
        }
    });
}

// One block per group of A-scans, lag along them, and group of depth lags.
__global__ void __launch_bounds__(aligning_threads) correlate_features(RepeatWork work, int reference) {
    __shared__ float of_warps[aligning_warps][coarse_group];
    const int groups = (work.coarse_width() + coarse_group - 1) / coarse_group;
    const int along = 2 * work.coarse_x + 1, chunks = work.coarse_chunks();
    each_by_blocks(work, static_cast<unsigned>(groups * along * chunks), [&](int slot, int part) {
        const int chunk = part % chunks, lag_x = part / chunks % along - work.coarse_x, group = part / chunks / along;
        const int first_lag = group * coarse_group - work.coarse_z;
        const std::int64_t plane = std::int64_t{work.half_positions} * work.half_depth;
        const float* of_reference = work.features + (slot / work.count * work.count + reference) * plane;
        const float* of_repeat = work.features + slot * plane;
        const int end = min((chunk + 1) * coarse_chunk, work.half_positions), warp = static_cast<int>(threadIdx.x) / 32;
        float products[coarse_group] = {};
        for (int x = chunk * coarse_chunk + warp; x < end; x += aligning_warps) {
            if (x + lag_x < 0 || x + lag_x >= work.half_positions) continue;
            add_line(products, of_reference + std::int64_t{x} * work.half_depth,
                     of_repeat + std::int64_t{x + lag_x} * work.half_depth, first_lag, work.half_depth);
        }
        __syncthreads();
#pragma unroll
        for (int n = 0; n < coarse_group; ++n) {
            const float product = warp_sum(products[n]);
            if (lane_of() == 0) of_warps[warp][n] = product;
        }
        __syncthreads();
        const auto n = static_cast<int>(threadIdx.x);
        if (n >= coarse_group || group * coarse_group + n >= work.coarse_width()) return;
        float all = 0;
        for (int w = 0; w < aligning_warps; ++w) all += of_warps[w][n];
        const int lag = (lag_x + work.coarse_x) * work.coarse_width() + group * coarse_group + n;
        work.correlations[(std::int64_t{slot} * work.coarse_lags() + lag) * chunks + chunk] = all;
    });
}

// The largest value with a tie-breaking order, over all threads of the block.
struct Candidate {
    float value = -2;
    int order = 1 << 30;  // the smallest wins ties
};
struct Better {
    __device__ Candidate operator()(Candidate a, Candidate b) const {
        return b.value > a.value || (b.value == a.value && b.order < a.order) ? b : a;
    }
};

// Sums the power of a slot's features that overlap at each depth lag into shared memory.
__device__ void sum_overlap_powers(const RepeatWork& work, int slot, double* sums) {
    for (int i = static_cast<int>(threadIdx.x) / 32; i < work.coarse_width(); i += aligning_warps) {
        const float* of_lines = work.overlap_powers + work.overlap(slot, i);
        double sum = 0;
        for (int x = lane_of(); x < work.half_positions; x += 32) sum += static_cast<double>(of_lines[x]);
        sum = warp_sum(sum);
        if (lane_of() == 0) sums[i] = sum;
    }
}

// Returns the part of it that also overlaps at a lag along the A-scans.
__device__ double overlap_power(const RepeatWork& work, int slot, const double* sums, int lag_z, int lag_x) {
    const float* of_lines = work.overlap_powers + work.overlap(slot, lag_z + work.coarse_z);
    double power = sums[lag_z + work.coarse_z];
    const int begin = lag_x > 0 ? work.half_positions - lag_x : 0, end = lag_x > 0 ? work.half_positions : -lag_x;
    for (int x = begin; x < end; ++x) power -= static_cast<double>(of_lines[x]);
    return power > 0 ? power : 0;
}

__global__ void __launch_bounds__(aligning_threads) choose_coarse_lags(RepeatWork work, int reference) {
    __shared__ Candidate shared[32];
    __shared__ double of_reference[most_coarse_width], of_repeat[most_coarse_width];
    each_by_blocks(work, 1, [&](int slot, int) {
        const int lags = work.coarse_lags(), chunks = work.coarse_chunks();
        const int slot_of_reference = slot / work.count * work.count + reference;
        const int no_lag = work.coarse_x * work.coarse_width() + work.coarse_z;
        __syncthreads();
        sum_overlap_powers(work, slot_of_reference, of_reference);
        sum_overlap_powers(work, slot, of_repeat);
        __syncthreads();
        Candidate best;
        for (int lag = static_cast<int>(threadIdx.x); lag < lags; lag += aligning_threads) {
            const float* parts = work.correlations + (std::int64_t{slot} * lags + lag) * chunks;
            double product = 0;
            for (int i = 0; i < chunks; ++i) product += static_cast<double>(parts[i]);
            const int x = lag / work.coarse_width() - work.coarse_x, z = lag % work.coarse_width() - work.coarse_z;
            const float found = normalised(product, overlap_power(work, slot_of_reference, of_reference, z, x),
                                           overlap_power(work, slot, of_repeat, -z, -x));
            best = Better{}(best, {found, lag == no_lag ? -1 : lag});
        }
        __syncthreads();
        best = over_block(best, Better{}, shared);
        if (threadIdx.x != 0) return;
        const int lag = best.order < 0 ? no_lag : best.order;
        work.tried[slot].whole_x = 2 * (lag / work.coarse_width() - work.coarse_x);
        work.tried[slot].whole_z = 2 * (lag % work.coarse_width() - work.coarse_z);
    });
}

// ---- fine: coherence around the coarse lag --------------------------------------------------------------------------

// Returns this thread's part of the tissue power of a line without a counterpart `lag` bins further.
__device__ inline float unmatched_power(const RepeatWork& work, const float2* line, int lag) {
    const int first = lag > 0 ? max(work.depth - lag, 0) : 0, end = lag > 0 ? work.depth : min(-lag, work.depth);
    float sum = 0;
    for (int z = first + lane_of(); z < end; z += 32) {
        const float power = power_of(phasor_at(line + z));
        if (power >= work.min_power) sum += power;
    }
    return sum;
}

// One warp per A-scan of the reference. The modulus of the product is insensitive to the phase of a whole A-scan, so
// coherences of A-scans can be added regardless of their bulk motion.
__global__ void __launch_bounds__(aligning_threads, 3) find_coherences(RepeatWork work, int reference) {
    __shared__ WarpBins<fine_width> of_warps[aligning_warps];
    WarpBins<fine_width>& bins = of_warps[threadIdx.x / 32];
    each_by_warps(work, static_cast<unsigned>(work.positions), [&](int slot, int x) {
        const RepeatShift shift = work.tried[slot];
        const FineLags<int> deep(shift.whole_z, work.align_depth, work.depth),
            along(shift.whole_x, work.align_lines, work.positions);
        const float2* a = work.line(slot / work.count, x, 0, reference);
        const auto is_there = [&](int step) {
            const int other = x + along.first + step;
            return along.first + step <= along.last && other >= 0 && other < work.positions;
        };
        Phasor products[fine_width][fine_width];
        float of_repeat[fine_width][fine_width] = {}, of_all = 0;
        for (int z = 0; z < work.depth; z += bins_of_a_warp) {
            const TissueBins tissue(bins, a, work.depth, z, work.min_power);
            of_all += tissue.power();
#pragma unroll
            for (int step = 0; step < fine_width; ++step) {
                if (!is_there(step)) continue;
                const float2* b = work.line(slot / work.count, x + along.first + step, 0, slot % work.count);
                bins.fetch(b, work.depth, z + deep.first);
                at_all_lags(tissue, bins, [&](int n, Phasor at_reference, Phasor at_repeat) {
                    add_difference(products[step][n], at_repeat, at_reference);
                    if (power_of(at_reference) > 0) of_repeat[step][n] += power_of(at_repeat);
                });
            }
        }
#pragma unroll
        for (int n = 0; n < fine_width; ++n) {
            const float of_reference = warp_sum(of_all - unmatched_power(work, a, deep.first + n));
#pragma unroll
            for (int step = 0; step < fine_width; ++step) {
                const float modulus = sqrtf(power_of(warp_sum(products[step][n])));
                const float power = warp_sum(of_repeat[step][n]);
                float4& into = work.coherences[work.at(slot, x) * fine_lags + step * fine_width + n];
                if (lane_of() == 0) into = {modulus, is_there(step) ? of_reference : 0, power, 0};
            }
        }
    });
}

// One block per slot; each warp processes several lags.
__global__ void __launch_bounds__(aligning_threads) choose_fine_lags(RepeatWork work) {
    __shared__ float found[fine_lags];
    each_by_blocks(work, 1, [&](int slot, int) {
        __syncthreads();
        for (int lag = static_cast<int>(threadIdx.x) / 32; lag < fine_lags; lag += aligning_warps) {
            double product = 0, of_reference = 0, of_repeat = 0;
            for (int x = lane_of(); x < work.positions; x += 32) {
                const float4 one = work.coherences[work.at(slot, x) * fine_lags + lag];
                product += static_cast<double>(one.x);
                of_reference += static_cast<double>(one.y);
                of_repeat += static_cast<double>(one.z);
            }
            product = warp_sum(product);
            of_reference = warp_sum(of_reference);
            of_repeat = warp_sum(of_repeat);
            if (lane_of() == 0) found[lag] = normalised(product, of_reference, of_repeat);
        }
        __syncthreads();
        if (threadIdx.x != 0) return;
        RepeatShift& shift = work.tried[slot];
        const FineLags<int> deep(shift.whole_z, work.align_depth, work.depth),
            along(shift.whole_x, work.align_lines, work.positions);
        float most = -1;
        for (int x = along.first; x <= along.last; ++x) {
            for (int z = deep.first; z <= deep.last; ++z) {
                const float one = found[(x - along.first) * fine_width + z - deep.first];
                if (!(one > most)) continue;
                most = one;
                shift.whole_x = x;
                shift.whole_z = z;
            }
        }
    });
}

}  // namespace

void enqueue_lags(cudaStream_t stream, const RepeatWork& work, int reference) {
    constexpr int threads = aligning_threads;
    const bool retry = reference > 0;
    const std::int64_t slots = work.slots(), lines = slots * work.positions;
    if (!retry) {
        const std::int64_t features = slots * work.half_positions;
        measure_features<<<static_cast<unsigned>((features + aligning_warps - 1) / aligning_warps), threads, 0,
                           stream>>>(work);
    }
    correlate_features<<<blocks_of_some(slots * work.coarse_lags() * work.coarse_chunks(), retry), threads, 0,
                         stream>>>(work, reference);
    choose_coarse_lags<<<blocks_of_some(slots, retry), threads, 0, stream>>>(work, reference);
    find_coherences<<<blocks_of_some(lines / aligning_warps, retry), threads, 0, stream>>>(work, reference);
    choose_fine_lags<<<blocks_of_some(slots, retry), threads, 0, stream>>>(work);
    checked_launch("find lags of repeats");
}

namespace {

// ---- one try --------------------------------------------------------------------------------------------------------

__global__ void begin_search(RepeatWork work) {
    for (int slow = static_cast<int>(threadIdx.x); slow < work.slow_positions; slow += static_cast<int>(blockDim.x))
        work.states[slow] = {};
}

// A single block lists the repeats to compare with `reference`.
__global__ void begin_try(RepeatWork work, int reference) {
    if (threadIdx.x == 0) *work.active_count = 0;
    __syncthreads();
    for (int slot = static_cast<int>(threadIdx.x); slot < work.slots(); slot += static_cast<int>(blockDim.x)) {
        const int slow = slot / work.count, repeat = slot % work.count;
        if (work.states[slow].is_decided != 0) continue;
        RepeatShift& shift = work.tried[slot];
        shift = {};
        if (work.bright[slow * work.count + reference] < min_repeat_tissue) {
            shift.reason = Reason::no_signal;
        } else if (repeat == reference) {
            shift.match = 1;
        } else {
            work.active[atomicAdd(work.active_count, 1)] = slot;  // the order of the list does not affect results
        }
    }
}

__global__ void end_try(RepeatWork work, int reference) {
    for (int slow = static_cast<int>(threadIdx.x); slow < work.slow_positions; slow += static_cast<int>(blockDim.x)) {
        RepeatState& state = work.states[slow];
        if (state.is_decided != 0) continue;
        const RepeatShift* tried = work.tried + slow * work.count;
        RepeatShift* shifts = work.shifts + slow * work.count;
        int used = 0;
        for (int r = 0; r < work.count; ++r) used += tried[r].reason == Reason::ok;
        if (state.end_try(reference, used, work.count)) {
            for (int r = 0; r < work.count; ++r) shifts[r] = tried[r];
        }
        state.judge(shifts[state.reference]);
    }
}

// ---- fractions of a sample ------------------------------------------------------------------------------------------

// One warp per A-scan of the reference: sums over depth for depth lags around the whole one.
__global__ void __launch_bounds__(aligning_threads) sum_lags_in_depth(RepeatWork work, int reference) {
    __shared__ WarpBins<lag_count> of_warps[aligning_warps];
    WarpBins<lag_count>& bins = of_warps[threadIdx.x / 32];
    each_by_warps(work, work.positions, [&](int slot, int x) {
        const RepeatShift shift = work.tried[slot];
        const int other = x + shift.whole_x, first = shift.whole_z - ShiftTaps::count / 2;
        const bool is_there = other >= 0 && other < work.positions;
        Phasor products[lag_count];
        for (int z = 0; is_there && z < work.depth; z += bins_of_a_warp) {
            const TissueBins tissue(bins, work.line(slot / work.count, x, 0, reference), work.depth, z, work.min_power);
            bins.fetch(work.line(slot / work.count, other, 0, slot % work.count), work.depth, z + first);
            at_all_lags(tissue, bins, [&](int n, Phasor at_reference, Phasor at_repeat) {
                add_difference(products[n], at_repeat, at_reference);
            });
        }
#pragma unroll
        for (int n = 0; n < lag_count; ++n) {
            const Phasor product = warp_sum(products[n]);
            if (lane_of() == 0) work.lags[work.at(slot, x) * lag_count + n] = product;
        }
    });
}

constexpr int summed_together = 3;

// Sums over lags along the B-scan, for repeats moved in depth with their bulk phase removed. A warp processes several
// A-scans of the reference, so that the others are loaded once.
__global__ void __launch_bounds__(aligning_threads, 4) sum_lags_along(RepeatWork work, int reference) {
    constexpr int together = summed_together, lines = together + lag_count - 1, middle = ShiftTaps::count / 2;
    each_by_warps(work, static_cast<unsigned>((work.positions + together - 1) / together), [&](int slot, int part) {
        const int x = part * together, end = min(together, work.positions - x);
        const int whole = work.tried[slot].whole_x, first = x + whole - middle, depth = work.depth;
        const float2* of_reference_lines = work.line(slot / work.count, x, 0, reference);
        const int to_next = static_cast<int>(work.repeats.position_step * work.stride);
        const float2* others = work.shifted_line(slot, first);  // some of which may not exist
        Phasor products[together][lag_count];
        float of_reference[together] = {}, of_repeat[together] = {};
        each_bin(depth, [&](int z) {
            Phasor a[together];
#pragma unroll
            for (int k = 0; k < together; ++k) {
                if (k < end) a[k] = phasor_at(of_reference_lines + k * to_next + z);
                if (!(power_of(a[k]) >= work.min_power)) a[k] = {};
            }
#pragma unroll
            for (int i = 0; i < lines; ++i) {
                if (first + i < 0 || first + i >= work.positions) continue;
                const Phasor b = phasor_at(others + i * depth + z);
#pragma unroll
                for (int k = 0; k < together; ++k) {
                    if (i - k < 0 || i - k >= lag_count) continue;
                    add_difference(products[k][i - k], b, a[k]);
                    if (i - k != middle) continue;
                    const float power = power_of(a[k]);
                    of_reference[k] += power;
                    of_repeat[k] += power > 0 ? power_of(b) : 0.0f;
                }
            }
        });
#pragma unroll
        for (int k = 0; k < together; ++k) {
#pragma unroll
            for (int n = 0; n < lag_count; ++n) {
                const Phasor product = warp_sum(products[k][n]);
                if (k >= end || lane_of() != 0) continue;
                const int of_phase = min(max(first + k + n - whole, 0), work.positions - 1);
                work.lags[work.at(slot, x + k) * lag_count + n] =
                    phase_difference(product, work.phases[work.at(slot, of_phase)]);
            }
            const float2 powers{warp_sum(of_reference[k]), warp_sum(of_repeat[k])};
            if (k < end && lane_of() == 0) work.powers[work.at(slot, x + k)] = powers;
        }
    });
}

constexpr int fraction_threads = 512;  // one block per slot: nothing else runs concurrently

// Coherence as a function of the fraction, computed by all threads of a block.
struct BlockCoherence {
    const RepeatWork& work;
    int slot;
    double turns;
    Phasor* taps;    // shared memory, [ShiftTaps::count]
    double* shared;  // [32]

    __device__ double operator()(double fraction) const {
        const auto thread = static_cast<int>(threadIdx.x);
        __syncthreads();
        if (thread < ShiftTaps::count) taps[thread] = ShiftTaps::weight(fraction, turns, thread);
        __syncthreads();
        const auto first = static_cast<int>(ShiftTaps::first_of(fraction)) + ShiftTaps::count / 2;
        double sum = 0;
        for (int x = thread; x < work.positions; x += fraction_threads) {
            const Phasor* of_line = work.lags + work.at(slot, x) * lag_count + first;
            Phasor product;
            for (int n = 0; n < ShiftTaps::count; ++n) add_product(product, taps[n], of_line[n]);
            sum += static_cast<double>(sqrtf(power_of(product)));
        }
        return over_block(sum, Sum{}, shared);
    }
};

__device__ inline void store_taps(ShiftTaps& taps, double shift, double turns) {
    const double by = settled(shift);
    if (threadIdx.x < ShiftTaps::count)
        taps.tap[threadIdx.x] = ShiftTaps::weight(by, turns, static_cast<int>(threadIdx.x));
    if (threadIdx.x == 0) taps.first = ShiftTaps::first_of(by);
}

__global__ void __launch_bounds__(fraction_threads) find_fractions_in_depth(RepeatWork work) {
    __shared__ Phasor taps[ShiftTaps::count];
    __shared__ double shared[32];
    each_by_blocks(work, 1, [&](int slot, int) {
        RepeatShift& shift = work.tried[slot];
        const double whole = shift.whole_z;
        const double fraction =
            work.align_depth > 0 ? best_fraction(BlockCoherence{work, slot, work.carrier_turns, taps, shared}) : 0;
        if (threadIdx.x == 0) shift.z = whole + fraction;
        store_taps(work.depth_taps[slot], whole + fraction, work.carrier_turns);
    });
}

__global__ void __launch_bounds__(fraction_threads) find_fractions_along(RepeatWork work) {
    __shared__ Phasor taps[ShiftTaps::count];
    __shared__ double shared[32];
    each_by_blocks(work, 1, [&](int slot, int) {
        const BlockCoherence coherence_at{work, slot, 0, taps, shared};
        const double fraction = work.align_lines > 0 ? best_fraction(coherence_at) : 0;
        const double coherent = coherence_at(fraction);
        double of_reference = 0, of_repeat = 0;
        for (int x = static_cast<int>(threadIdx.x); x < work.positions; x += fraction_threads) {
            of_reference += static_cast<double>(work.powers[work.at(slot, x)].x);
            of_repeat += static_cast<double>(work.powers[work.at(slot, x)].y);
        }
        __syncthreads();
        of_reference = over_block(of_reference, Sum{}, shared);
        __syncthreads();
        of_repeat = over_block(of_repeat, Sum{}, shared);
        RepeatShift& shift = work.tried[slot];
        store_taps(work.across_taps[slot], shift.whole_x + fraction, 0);
        if (threadIdx.x != 0) return;
        const auto power = static_cast<float>(sqrt(of_reference * of_repeat));
        shift.x = shift.whole_x + fraction;
        shift.match = power > 0 ? static_cast<float>(coherent) / power : 0.0f;
        shift.judge(work.min_match, work.align_depth, work.align_lines);
    });
}

void enqueue_try(cudaStream_t stream, const RepeatWork& work, int reference) {
    constexpr int threads = aligning_threads;
    const bool retry = reference > 0;
    const std::int64_t slots = work.slots(), lines = slots * work.positions;
    begin_try<<<1, 256, 0, stream>>>(work, reference);
    enqueue_lags(stream, work, reference);
    sum_lags_in_depth<<<blocks_of_some(lines / aligning_warps, retry), threads, 0, stream>>>(work, reference);
    find_fractions_in_depth<<<blocks_of_some(slots, retry), fraction_threads, 0, stream>>>(work);
    enqueue_moves(stream, work, work.tried, 0, reference, retry);
    sum_lags_along<<<blocks_of_some(lines / aligning_warps, retry), threads, 0, stream>>>(work, reference);
    find_fractions_along<<<blocks_of_some(slots, retry), fraction_threads, 0, stream>>>(work);
    end_try<<<1, 256, 0, stream>>>(work, reference);
    checked_launch("find the positions of repeats");
}

}  // namespace

unsigned blocks_of_some(std::int64_t at_most, bool likely_none) {
    const std::int64_t enough = likely_none ? 1024 : 4096;
    return static_cast<unsigned>(std::clamp<std::int64_t>(at_most + 1, 1, enough));
}

void enqueue_search(cudaStream_t stream, const RepeatWork& work) {
    begin_search<<<1, 256, 0, stream>>>(work);
    for (int reference = 0; reference < work.count; ++reference) enqueue_try(stream, work, reference);
}

}  // namespace echolux::cuda
