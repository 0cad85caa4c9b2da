// Applies the alignment: repeats are moved in depth, their bulk phase is removed, and they are shifted along the
// B-scan. Also carves up the memory for all kernels of the alignment.
#include "compute/cuda/repeat_alignment.h"

#include <algorithm>

#include "compute/cuda/launch.h"
#include "compute/cuda/repeat_work.cuh"
#include "compute/reason.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

// ---- Bulk motion phase of each A-scan of a repeat relative to another one. All passes over a block's A-scans run in
// one kernel, in shared memory and while the bins are cached. The block also computes the neighbouring A-scans that
// later passes need.

inline constexpr int phase_threads = 512, phase_warps = phase_threads / 32;
inline constexpr int phase_tile = 64;   // A-scans per block
inline constexpr int bins_at_once = 4;  // bins loaded together per thread

// Arrays in shared memory, starting at A-scan `origin`.
struct PhaseTile {
    static constexpr int reach = PhaseSmoothing::reach, passes = RepeatPhaseShare::passes;
    static constexpr int a_scans = phase_tile + 2 * reach * passes;

    Phasor *sums, *phases;
    const float* weights;  // by distance
    int origin;
};

// `Lines` provides the lines of two repeats, the slots to process, the phase factor of the reference (whose bins in
// memory are not yet rotated), and the output of phases.
template <class Lines>
__device__ void sum_phases(const RepeatWork& work, const Lines& lines, int slot, const PhaseTile& tile, int begin,
                           int end, bool is_first) {
    const RepeatPhaseShare share{work.min_power};
    for (int x = begin + static_cast<int>(threadIdx.x) / 32; x < end; x += phase_warps) {
        const float2 *a = lines.reference_of(work, slot, x), *b = lines.other(work, slot, x);
        const Phasor turn = lines.turn_of_reference(work, slot, x);
        const Phasor estimate = is_first ? Phasor{} : phase_difference(tile.phases[x - tile.origin], turn);
        Phasor sum;
        for (int z = lane_of(); z < work.depth; z += 32 * bins_at_once) {
            Phasor of_a[bins_at_once], of_b[bins_at_once];
#pragma unroll
            for (int i = 0; i < bins_at_once; ++i) {
                if (z + 32 * i >= work.depth) continue;  // contributes zero
                of_a[i] = phasor_at(a + z + 32 * i);
                of_b[i] = phasor_at(b + z + 32 * i);
            }
#pragma unroll
            for (int i = 0; i < bins_at_once; ++i) {
                const Phasor one = share(of_a[i], of_b[i], estimate);
                sum.re += one.re;
                sum.im += one.im;
            }
        }
        Phasor turned;
        add_product(turned, warp_sum(sum), turn);
        if (lane_of() == 0) tile.sums[x - tile.origin] = turned;
    }
}

__device__ inline Phasor smoothed_phase(const RepeatWork& work, const PhaseTile& tile, int x, bool is_last) {
    const int last = min(x + PhaseTile::reach, work.positions - 1);
    Phasor sum;
    for (int i = max(x - PhaseTile::reach, 0); i <= last; ++i)
        add_product(sum, {tile.weights[abs(i - x)], 0}, tile.sums[i - tile.origin]);
    const Phasor phase = direction_of(sum);
    return is_last && phase.re == 0 && phase.im == 0 ? Phasor{1, 0} : phase;
}

// One block per group of A-scans of a slot.
template <class Lines>
__global__ void __launch_bounds__(phase_threads) find_phases(RepeatWork work, Lines lines) {
    __shared__ Phasor sums[PhaseTile::a_scans], phases[PhaseTile::a_scans];
    __shared__ float weights[PhaseTile::reach + 1];
    constexpr int reach = PhaseTile::reach, passes = PhaseTile::passes;
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread <= reach) weights[thread] = PhaseSmoothing::weight(thread);
    each_by_blocks(work, (work.positions + phase_tile - 1) / phase_tile, [&](int slot, int part) {
        if (!lines.is_about(work, slot)) return;
        const int first = part * phase_tile, end = min(first + phase_tile, work.positions);
        const PhaseTile tile{sums, phases, weights, first - reach * passes};
        for (int pass = 0; pass < passes; ++pass) {
            int beyond = (passes - pass) * reach;
            __syncthreads();
            sum_phases(work, lines, slot, tile, max(first - beyond, 0), min(end + beyond, work.positions), pass == 0);
            __syncthreads();
            beyond -= reach;
            const int past = min(end + beyond, work.positions);
            for (int x = max(first - beyond, 0) + thread; x < past; x += phase_threads)
                phases[x - tile.origin] = smoothed_phase(work, tile, x, pass == passes - 1);
        }
        __syncthreads();
        for (int x = first + thread; x < end; x += phase_threads)
            lines.phases(work)[work.at(slot, x)] = phases[x - tile.origin];
    });
}

template <class Lines>
void enqueue_phases(cudaStream_t stream, const RepeatWork& work, const Lines& lines, bool likely_none = false) {
    const int tiles = (work.positions + phase_tile - 1) / phase_tile;
    find_phases<<<blocks_of_some(std::int64_t{work.slots()} * tiles, likely_none), phase_threads, 0, stream>>>(work,
                                                                                                               lines);
}

namespace {

// ---- a repeat, moved in depth ---------------------------------------------------------------------------------------

// One warp per A-scan.
__global__ void __launch_bounds__(aligning_threads) move_in_depth(RepeatWork work, std::int64_t series) {
    each_by_warps(work, work.positions, [&](int slot, int x) {
        const ShiftTaps taps = work.depth_taps[slot];
        const int first = static_cast<int>(taps.first), depth = work.depth;
        const float2* from = work.line(slot / work.count, x, series, slot % work.count);
        float2* into = work.shifted_line(slot, x);
        each_bin(depth, [&](int z) {
            Phasor sum;
#pragma unroll
            for (int n = 0; n < ShiftTaps::count; ++n) {
                const int at = z + first + n;
                if (at >= 0 && at < depth) add_product(sum, taps.tap[n], phasor_at(from + at));
            }
            into[z] = {sum.re, sum.im};
        });
    });
}

// Compares the moved repeat with the reference of its position. A-scan x + whole_x of the repeat corresponds to A-scan
// x of the reference.
struct RelativeToReference {
    const RepeatShift* shifts;
    std::int64_t series;
    int reference;  // for all positions; -1: the one in each state

    __device__ bool is_about(const RepeatWork&, int) const { return true; }
    __device__ const float2* reference_of(const RepeatWork& work, int slot, int x) const {
        const int slow = slot / work.count;
        return work.line(slow, x, series, reference < 0 ? work.states[slow].reference : reference);
    }
    __device__ const float2* other(const RepeatWork& work, int slot, int x) const {
        return work.shifted_line(slot, min(max(x + shifts[slot].whole_x, 0), work.positions - 1));
    }
    __device__ Phasor turn_of_reference(const RepeatWork&, int, int) const { return {1, 0}; }
    __device__ Phasor* phases(const RepeatWork& work) const { return work.phases; }
};

// ---- shifted along the B-scan ---------------------------------------------------------------------------------------

// A single block determines the repeats to keep and their common valid range.
__global__ void plan_kept_repeats(RepeatWork work) {
    for (int slow = static_cast<int>(threadIdx.x); slow < work.slow_positions; slow += static_cast<int>(blockDim.x)) {
        KnownPart known{0, work.positions, 0, work.depth};
        int kept = 0;
        for (int r = 0; r < work.count; ++r) {
            const RepeatShift& shift = work.shifts[slow * work.count + r];
            if (shift.reason != Reason::ok) continue;
            work.kept[slow * work.count + kept++] = r;
            known.keep(shift, work.positions, work.depth);
        }
        work.compared[slow] = max(kept, 1);
        work.known[slow] = known;
    }
}

// A single block lists the repeats to move: all kept ones or, for the first series, those whose reference was not the
// last one tried, because the buffers then hold results for another reference.
__global__ void list_moved_repeats(RepeatWork work, bool all) {
    if (threadIdx.x == 0) *work.active_count = 0;
    __syncthreads();
    for (int slot = static_cast<int>(threadIdx.x); slot < work.slots(); slot += static_cast<int>(blockDim.x)) {
        const RepeatState& state = work.states[slot / work.count];
        const bool is_kept = work.compared[slot / work.count] > 1 && work.shifts[slot].reason == Reason::ok &&
                             slot % work.count != state.reference;
        if (is_kept && (all || state.reference != state.last_tried))
            work.active[atomicAdd(work.active_count, 1)] = slot;
    }
}

__global__ void __launch_bounds__(aligning_threads) take_taps(RepeatWork work) {
    each_by_blocks(work, 1, [&](int slot, int) {
        if (threadIdx.x != 0) return;
        work.depth_taps[slot] = ShiftTaps(settled(work.shifts[slot].z), work.carrier_turns);
        work.across_taps[slot] = ShiftTaps(settled(work.shifts[slot].x), 0);
    });
}

// A single block lists the slots of compared repeats.
__global__ void list_kept(RepeatWork work) {
    if (threadIdx.x == 0) *work.active_count = 0;
    __syncthreads();
    for (int slot = static_cast<int>(threadIdx.x); slot < work.slots(); slot += static_cast<int>(blockDim.x)) {
        const int compared = work.compared[slot / work.count];
        if (compared > 1 && slot % work.count < compared) work.active[atomicAdd(work.active_count, 1)] = slot;
    }
}

inline constexpr int laid_together = 4;

// A warp processes several A-scans and loads each input once. Slots are positions of the aligned repeats. Phases belong
// to the A-scans of the reference that the moved ones correspond to.
__global__ void __launch_bounds__(aligning_threads, 4) lay_over(RepeatWork work, std::int64_t series) {
    constexpr int taps = ShiftTaps::count, together = laid_together, lines = together + taps - 1;
    each_by_warps(work, static_cast<unsigned>((work.positions + together - 1) / together), [&](int target, int part) {
        const int slow = target / work.count, repeat = work.kept[target], x = part * together;
        const int end = min(together, work.positions - x);
        if (repeat == work.states[slow].reference) {
            for (int i = 0; i < end; ++i) {
                const float2* from = work.line(slow, x + i, series, repeat);
                float2* into = work.aligned_line(slow, x + i, series, target % work.count);
                each_bin<4>(work.depth, [&](int z) { into[z] = __ldg(from + z); });
            }
            return;
        }
        const int slot = slow * work.count + repeat, whole = work.shifts[slot].whole_x;
        const int first = x + static_cast<int>(work.across_taps[slot].first), depth = work.depth;
        const float2* from = work.shifted_line(slot, first);  // and subsequent lines, some of which may not exist
        float2* into = work.aligned_line(slow, x, series, target % work.count);
        const int to_next = static_cast<int>(work.repeats.position_step) * depth;
        float tap[taps];  // taps without a carrier are real
        Phasor phase[lines];
#pragma unroll
        for (int n = 0; n < taps; ++n) tap[n] = work.across_taps[slot].tap[n].re;
#pragma unroll
        for (int i = 0; i < lines; ++i)
            phase[i] = work.phases[work.at(slot, min(max(first + i - whole, 0), work.positions - 1))];
        each_bin(depth, [&](int z) {
            Phasor sums[together];
#pragma unroll
            for (int i = 0; i < lines; ++i) {
                if (first + i < 0 || first + i >= work.positions) continue;
                const Phasor value = phase_difference(phasor_at(from + i * depth + z), phase[i]);
#pragma unroll
                for (int k = 0; k < together; ++k) {
                    if (i - k < 0 || i - k >= taps) continue;
                    sums[k].re = multiply_add(tap[i - k], value.re, sums[k].re);
                    sums[k].im = multiply_add(tap[i - k], value.im, sums[k].im);
                }
            }
#pragma unroll
            for (int k = 0; k < together; ++k) {
                if (k < end) into[k * to_next + z] = {sums[k].re, sums[k].im};
            }
        });
    });
}

// Compares an aligned repeat with the previous one, rotated by that repeat's own phase.
struct RelativeToPrevious {
    std::int64_t series;
    int place;

    __device__ bool is_about(const RepeatWork& work, int slot) const { return slot % work.count == place; }
    __device__ const float2* reference_of(const RepeatWork& work, int slot, int x) const {
        return work.aligned_line(slot / work.count, x, series, place - 1);
    }
    __device__ const float2* other(const RepeatWork& work, int slot, int x) const {
        return work.aligned_line(slot / work.count, x, series, place);
    }
    __device__ Phasor turn_of_reference(const RepeatWork& work, int slot, int x) const {
        return place == 1 ? Phasor{1, 0} : work.follow[work.at(slot - 1, x)];
    }
    __device__ Phasor* phases(const RepeatWork& work) const { return work.follow; }
};

// One warp per A-scan of an aligned repeat: removes its phase relative to the previous repeat, and zeroes samples that
// any repeat lacks.
__global__ void __launch_bounds__(aligning_threads) finish_lines(RepeatWork work, std::int64_t series) {
    each_by_warps(work, work.positions, [&](int slot, int x) {
        const KnownPart known = work.known[slot / work.count];
        const int place = slot % work.count;
        float2* line = work.aligned_line(slot / work.count, x, series, place);
        const Phasor phase = place == 0 ? Phasor{1, 0} : work.follow[work.at(slot, x)];
        const bool is_known = x >= known.first_x && x < known.last_x;
        each_bin<4>(work.depth, [&](int z) {
            const bool is = is_known && z >= known.first_z && z < known.last_z;
            const Phasor turned = is ? phase_difference(phasor_of(line[z]), phase) : Phasor{};
            line[z] = {turned.re, turned.im};
        });
    });
}

__global__ void report(RepeatWork work, RepeatReport* reports) {
    const std::int64_t slot = element();
    if (slot < work.slots()) reports[slot] = work.shifts[slot].report(work.depth_flip);
}

void enqueue_series(cudaStream_t stream, const RepeatWork& work, std::int64_t series) {
    constexpr int threads = aligning_threads;
    const unsigned blocks = blocks_of_some(std::int64_t{work.slots()} * work.positions / aligning_warps);
    const bool likely_none = series == 0;
    list_moved_repeats<<<1, 256, 0, stream>>>(work, series > 0);
    take_taps<<<blocks_of_some(work.slots(), likely_none), threads, 0, stream>>>(work);
    enqueue_moves(stream, work, work.shifts, series, -1, likely_none);
    list_kept<<<1, 256, 0, stream>>>(work);
    lay_over<<<blocks, threads, 0, stream>>>(work, series);
    for (int place = 1; place < work.count; ++place) enqueue_phases(stream, work, RelativeToPrevious{series, place});
    finish_lines<<<blocks, threads, 0, stream>>>(work, series);
    checked_launch("overlay repeats");
}

}  // namespace

void enqueue_moves(cudaStream_t stream, const RepeatWork& work, const RepeatShift* shifts, std::int64_t series,
                   int reference, bool likely_none) {
    const unsigned blocks = blocks_of_some(std::int64_t{work.slots()} * work.positions / aligning_warps, likely_none);
    move_in_depth<<<blocks, aligning_threads, 0, stream>>>(work, series);
    enqueue_phases(stream, work, RelativeToReference{shifts, series, reference}, likely_none);
    checked_launch("move repeats in depth");
}

void enqueue_laying_over(cudaStream_t stream, const RepeatWork& work) {
    plan_kept_repeats<<<1, 256, 0, stream>>>(work);
    for (std::int64_t series = 0; series < work.repeats.series; ++series) enqueue_series(stream, work, series);
}

// ---- the buffers ----------------------------------------------------------------------------------------------------

namespace {

// Places arrays one after another in a single allocation. With null, it only counts the bytes.
class Carver {
  public:
    explicit Carver(std::byte* memory) : memory_(memory) {}

    std::int64_t bytes() const { return bytes_; }

    template <class T>
    void take(T*& array, std::int64_t count) {
        constexpr std::int64_t alignment = 256;
        if (memory_ != nullptr) array = reinterpret_cast<T*>(memory_ + bytes_);
        bytes_ += (count * std::int64_t{sizeof(T)} + alignment - 1) / alignment * alignment;
    }

  private:
    std::byte* memory_;
    std::int64_t bytes_ = 0;
};

RepeatWork sizes_of(const FlowTables& tables, std::int64_t position_lines) {
    const auto half = [](std::int64_t count) { return static_cast<int>((count + 1) / 2); };
    RepeatWork work;
    work.position_lines = position_lines;
    work.repeats = tables.repeats;
    work.count = static_cast<int>(tables.repeats.count);
    work.positions = static_cast<int>(tables.repeats.positions);
    work.depth = static_cast<int>(tables.depth);
    work.half_positions = half(work.positions);
    work.half_depth = half(work.depth);
    work.align_depth = static_cast<int>(tables.align_depth);
    work.align_lines = static_cast<int>(tables.align_lines);
    work.coarse_z = std::min(half(work.align_depth), work.half_depth / 2);
    work.coarse_x = std::min(half(work.align_lines), work.half_positions / 2);
    work.min_power = tables.min_power;
    work.min_match = tables.min_match;
    work.carrier_turns = tables.carrier_turns;
    work.depth_flip = tables.depth_flip;
    return work;
}

void carve(RepeatWork& work, Carver& carver, std::int64_t slow) {
    const std::int64_t slots = slow * work.count, lines = slots * work.positions;
    const std::int64_t planes = slots * work.half_positions * work.half_depth;
    carver.take(work.features, planes);
    carver.take(work.spare, planes);
    carver.take(work.line_powers, slow * work.half_positions);
    carver.take(work.floors, slow);
    carver.take(work.bright, slots);
    carver.take(work.active, slots);
    carver.take(work.active_count, 1);
    carver.take(work.states, slow);
    carver.take(work.overlap_powers, slots * work.coarse_width() * work.half_positions);
    carver.take(work.correlations, slots * work.coarse_lags() * work.coarse_chunks());
    carver.take(work.coherences, lines * fine_lags);
    carver.take(work.lags, lines * lag_count);
    carver.take(work.powers, lines);
    carver.take(work.tried, slots);
    carver.take(work.shifts, slots);
    carver.take(work.depth_taps, slots);
    carver.take(work.across_taps, slots);
    carver.take(work.shifted, lines * work.depth);
    carver.take(work.phases, lines);
    carver.take(work.follow, lines);
    carver.take(work.kept, slots);
    carver.take(work.known, slow);
    carver.take(work.compared, slow);
    carver.take(work.aligned, slow * work.position_lines * work.depth);
}

}  // namespace

RepeatAlignment::RepeatAlignment(const FlowTables& tables, std::int64_t max_positions, std::int64_t position_lines,
                                 cudaStream_t stream)
    : tables_(tables), max_positions_(max_positions), position_lines_(position_lines), stream_(stream) {
    RepeatWork work = sizes_of(tables, position_lines);
    Carver counter(nullptr);
    carve(work, counter, max_positions);
    memory_ = DeviceBuffer(counter.bytes());
}

RepeatWork RepeatAlignment::work_on(const DeviceBins& bins, std::int64_t positions) const {
    RepeatWork work = sizes_of(tables_, position_lines_);
    Carver carver(memory_.data());
    carve(work, carver, max_positions_);
    work.bins = bins.first;
    work.stride = bins.stride;
    work.slow_positions = static_cast<int>(positions);
    return work;
}

AlignedBins RepeatAlignment::enqueue(const DeviceBins& bins, std::int64_t positions, RepeatReport* reports) {
    const RepeatWork work = work_on(bins, positions);
    enqueue_features(stream_, work);
    enqueue_search(stream_, work);
    enqueue_laying_over(stream_, work);
    if (reports != nullptr) {
        report<<<blocks_for(work.slots()), threads_of_a_range, 0, stream_>>>(work, reports);
        checked_launch("report the positions of repeats");
    }
    return {{work.aligned, work.depth}, work.compared};
}

}  // namespace echolux::cuda
