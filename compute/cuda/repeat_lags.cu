// Finds the shift of a repeat relative to its reference in whole samples: among all lags in range with features at half
// resolution, then around the best one by coherence, which is insensitive to the bulk motion of A-scans.
#include "compute/cuda/over_block.cuh"
#include "compute/cuda/repeat_windows.cuh"
#include "compute/cuda/repeat_work.cuh"

namespace echolux::cuda {
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

__device__ inline float normalised(double product, double of_reference, double of_repeat) {
    const double power = sqrt(of_reference * of_repeat);
    return power > 0 ? static_cast<float>(product / power) : 0.0f;
}

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

// Lags around `place`, from first to last.
struct Around {
    int first, last;

    __device__ Around(int place, int range, int count) {
        constexpr int reach = fine_width / 2;
        const int most = min(range, count / 2);
        first = min(max(place - reach, -most), most);
        last = min(max(place + reach, -most), most);
    }
};

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
        const Around deep(shift.whole_z, work.align_depth, work.depth),
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
        const Around deep(shift.whole_z, work.align_depth, work.depth),
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

}  // namespace echolux::cuda
