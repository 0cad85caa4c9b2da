// Search for the shifts of the repeats of slow-axis positions. Each repeat in turn is tried as the reference until half
// of the others match it. All positions are processed together; those already decided are no longer listed.
#include <algorithm>

#include "compute/cuda/over_block.cuh"
#include "compute/cuda/repeat_windows.cuh"
#include "compute/cuda/repeat_work.cuh"

namespace echolux::cuda {
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
        state.last_tried = reference;
        int used = 0;
        for (int r = 0; r < work.count; ++r) used += tried[r].reason == Reason::ok;
        if (used > state.used) {
            state.used = used;
            state.reference = reference;
            for (int r = 0; r < work.count; ++r) shifts[r] = tried[r];
        }
        const bool is_last = reference == work.count - 1;
        state.is_decided = 2 * (state.used - 1) >= work.count - 1 || is_last;
        RepeatShift& own = shifts[state.reference];
        if (state.is_decided != 0 && state.used < 2 && own.reason == Reason::ok) own.reason = Reason::too_few;
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

// The same along the B-scan, for repeats moved in depth with their bulk phase removed. A warp processes several A-scans
// of the reference, so that the others are loaded once.
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

__device__ inline bool is_at_end(double found, int range) {
    return range > 0 && fabs(found) >= static_cast<double>(range);
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
        if (!(shift.match >= work.min_match)) {
            shift.reason = Reason::weak_match;
        } else if (is_at_end(shift.z, work.align_depth) || is_at_end(shift.x, work.align_lines)) {
            shift.reason = Reason::out_of_range;
        }
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
    checked_launch("find where repeats lie");
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
