// Repeats that have been found are moved, lose the phase of bulk motion, and come to lie over one another; and the
// memory for all of it.
#include "compute/cuda/repeat_alignment.h"

#include <algorithm>

#include "compute/cuda/launch.h"
#include "compute/cuda/repeat_work.cuh"

namespace echolux::cuda {
namespace {

// ---- the phase of bulk motion ---------------------------------------------------------------------------------------

// A warp has a pair of lines: what its bins add to the phase, given that of the pass before.
template <class Lines>
__global__ void __launch_bounds__(aligning_threads) sum_phases(RepeatWork work, Lines lines, int pass) {
    const RepeatPhaseShare share{work.min_power};
    each_by_warps(work, work.positions, [&](int slot, int x) {
        const float2 *a = lines.reference_of(work, slot, x), *b = lines.other(work, slot, x);
        const Phasor estimate = pass == 0 ? Phasor{} : lines.phases(work)[work.at(slot, x)];
        Phasor sum;
        each_bin<4>(work.depth, [&](int z) {
            const Phasor one = share(phasor_at(a + z), phasor_at(b + z), estimate);
            sum.re += one.re;
            sum.im += one.im;
        });
        sum = warp_sum(sum);
        if (lane_of() == 0) work.sums[work.at(slot, x)] = sum;
    });
}

// A thread has an A-scan.
template <class Lines>
__global__ void __launch_bounds__(aligning_threads) smooth_phases(RepeatWork work, Lines lines, bool is_last) {
    const int parts = (work.positions + aligning_threads - 1) / aligning_threads;
    each_by_blocks(work, parts, [&](int slot, int part) {
        const int x = part * aligning_threads + static_cast<int>(threadIdx.x);
        if (x >= work.positions) return;
        const WindowSpan window(x, 2 * PhaseSmoothing::reach + 1, work.positions);
        Phasor sum;
        for (std::int64_t i = window.begin; i < window.end; ++i)
            add_product(sum, {PhaseSmoothing::weight(i - x), 0}, work.sums[work.at(slot, static_cast<int>(i))]);
        Phasor phase = direction_of(sum);
        if (is_last && phase.re == 0 && phase.im == 0) phase = {1, 0};
        lines.phases(work)[work.at(slot, x)] = phase;
    });
}

template <class Lines>
void enqueue_phases(cudaStream_t stream, const RepeatWork& work, const Lines& lines, bool likely_none = false) {
    const unsigned blocks = blocks_of_some(std::int64_t{work.slots()} * work.positions / aligning_warps, likely_none);
    const unsigned smoothing = blocks_of_some(work.slots() * (work.positions / aligning_threads + 1), likely_none);
    for (int pass = 0; pass < RepeatPhaseShare::passes; ++pass) {
        sum_phases<<<blocks, aligning_threads, 0, stream>>>(work, lines, pass);
        smooth_phases<<<smoothing, aligning_threads, 0, stream>>>(work, lines, pass == RepeatPhaseShare::passes - 1);
    }
}

// ---- a repeat, moved in depth ---------------------------------------------------------------------------------------

// A warp has an A-scan.
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

// The reference of a position beside the moved repeat, whose A-scan x + whole_x lies over the reference's x.
struct AgainstReference {
    const RepeatShift* shifts;
    std::int64_t series;
    int reference;  // of all positions; -1: as their states say

    __device__ const float2* reference_of(const RepeatWork& work, int slot, int x) const {
        const int slow = slot / work.count;
        return work.line(slow, x, series, reference < 0 ? work.states[slow].reference : reference);
    }
    __device__ const float2* other(const RepeatWork& work, int slot, int x) const {
        return work.shifted_line(slot, min(max(x + shifts[slot].whole_x, 0), work.positions - 1));
    }
    __device__ Phasor* phases(const RepeatWork& work) const { return work.phases; }
};

// ---- laid over ------------------------------------------------------------------------------------------------------

// One block: which repeats are kept, and what all of them know.
__global__ void plan_what_is_kept(RepeatWork work) {
    for (int slow = static_cast<int>(threadIdx.x); slow < work.slow_positions; slow += static_cast<int>(blockDim.x)) {
        KnownPart known{0, work.positions, 0, work.depth};
        int kept = 0;
        for (int r = 0; r < work.count; ++r) {
            const RepeatShift& shift = work.shifts[slow * work.count + r];
            if (shift.reason != Reason::ok) continue;
            work.kept[slow * work.count + kept++] = r;
            const KnownSamples along(shift.x, work.positions), deep(shift.z, work.depth);
            known.first_x = max(known.first_x, along.begin);
            known.last_x = min(known.last_x, along.end);
            known.first_z = max(known.first_z, deep.begin);
            known.last_z = min(known.last_z, deep.end);
        }
        work.compared[slow] = max(kept, 1);
        work.known[slow] = known;
    }
}

// One block lists the repeats that have to be moved: all that are kept, or, of the first series, those whose reference
// was not the last that was tried, so that others lie in the buffers.
__global__ void list_what_is_moved(RepeatWork work, bool all) {
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

// One block lists what lies, or will lie, at the places [begin, end) of those that are compared.
__global__ void list_kept(RepeatWork work, int begin, int end) {
    if (threadIdx.x == 0) *work.active_count = 0;
    __syncthreads();
    for (int slot = static_cast<int>(threadIdx.x); slot < work.slots(); slot += static_cast<int>(blockDim.x)) {
        const int compared = work.compared[slot / work.count], place = slot % work.count;
        if (compared > 1 && place >= begin && place < min(end, compared))
            work.active[atomicAdd(work.active_count, 1)] = slot;
    }
}

// A warp has an A-scan; slots are places of the aligned repeats.
__global__ void __launch_bounds__(aligning_threads) lay_over(RepeatWork work, std::int64_t series) {
    each_by_warps(work, work.positions, [&](int target, int x) {
        const int slow = target / work.count, repeat = work.kept[target];
        float2* into = work.aligned_line(slow, x, series, target % work.count);
        if (repeat == work.states[slow].reference) {
            const float2* from = work.line(slow, x, series, repeat);
            each_bin<4>(work.depth, [&](int z) { into[z] = __ldg(from + z); });
            return;
        }
        const int slot = slow * work.count + repeat, whole = work.shifts[slot].whole_x;
        const ShiftTaps& taps = work.across_taps[slot];
        const int first = x + static_cast<int>(taps.first), depth = work.depth;
        const float2* lines = work.shifted_line(slot, first);  // of which some may not exist
        Phasor tap[ShiftTaps::count];                          // with the phase of the A-scan that it is for
#pragma unroll
        for (int n = 0; n < ShiftTaps::count; ++n) {
            const int of_phase = min(max(first + n - whole, 0), work.positions - 1);
            tap[n] = phase_difference(taps.tap[n], work.phases[work.at(slot, of_phase)]);
        }
        each_bin(depth, [&](int z) {
            Phasor sum;
#pragma unroll
            for (int n = 0; n < ShiftTaps::count; ++n) {
                if (first + n < 0 || first + n >= work.positions) continue;
                add_product(sum, tap[n], phasor_at(lines + n * depth + z));
            }
            into[z] = {sum.re, sum.im};
        });
    });
}

// An aligned repeat beside the one before it.
struct AgainstTheOneBefore {
    std::int64_t series;

    __device__ const float2* reference_of(const RepeatWork& work, int slot, int x) const {
        return work.aligned_line(slot / work.count, x, series, slot % work.count - 1);
    }
    __device__ const float2* other(const RepeatWork& work, int slot, int x) const {
        return work.aligned_line(slot / work.count, x, series, slot % work.count);
    }
    __device__ Phasor* phases(const RepeatWork& work) const { return work.follow; }
};

// A warp has an A-scan of an aligned repeat: the phase against the repeat before is taken from it.
__global__ void __launch_bounds__(aligning_threads) follow_phase(RepeatWork work, std::int64_t series) {
    each_by_warps(work, work.positions, [&](int slot, int x) {
        float2* line = work.aligned_line(slot / work.count, x, series, slot % work.count);
        const Phasor phase = work.follow[work.at(slot, x)];
        each_bin<4>(work.depth, [&](int z) {
            const Phasor turned = phase_difference(phasor_of(line[z]), phase);
            line[z] = {turned.re, turned.im};
        });
    });
}

// What some repeat has no sample for.
__global__ void __launch_bounds__(aligning_threads) clear_what_some_lack(RepeatWork work, std::int64_t series) {
    each_by_warps(work, work.positions, [&](int slot, int x) {
        const KnownPart known = work.known[slot / work.count];
        float2* line = work.aligned_line(slot / work.count, x, series, slot % work.count);
        const bool is_known = x >= known.first_x && x < known.last_x;
        const int begin = is_known ? static_cast<int>(known.first_z) : work.depth;
        const int end = static_cast<int>(known.last_z);
        for (int z = lane_of(); z < begin; z += 32) line[z] = {0, 0};
        for (int z = max(begin, end) + lane_of(); z < work.depth; z += 32) line[z] = {0, 0};
    });
}

__global__ void report(RepeatWork work, RepeatReport* reports) {
    const std::int64_t slot = element();
    if (slot >= std::int64_t{work.slow_positions} * work.count) return;
    const RepeatShift& shift = work.shifts[slot];
    RepeatReport one;
    one.depth_rows = static_cast<float>(work.depth_flip ? shift.z : 0 - shift.z);  // rows are written in reverse
    one.a_scans = static_cast<float>(0 - shift.x);
    one.match = shift.match;
    one.reason = shift.reason;
    reports[slot] = one;
}

void enqueue_series(cudaStream_t stream, const RepeatWork& work, std::int64_t series) {
    constexpr int threads = aligning_threads;
    const unsigned blocks = blocks_of_some(std::int64_t{work.slots()} * work.positions / aligning_warps);
    const bool likely_none = series == 0;
    list_what_is_moved<<<1, 256, 0, stream>>>(work, series > 0);
    take_taps<<<blocks_of_some(work.slots(), likely_none), threads, 0, stream>>>(work);
    enqueue_moves(stream, work, work.shifts, series, -1, likely_none);
    list_kept<<<1, 256, 0, stream>>>(work, 0, work.count);
    lay_over<<<blocks, threads, 0, stream>>>(work, series);
    for (int place = 1; place < work.count; ++place) {
        list_kept<<<1, 256, 0, stream>>>(work, place, place + 1);
        enqueue_phases(stream, work, AgainstTheOneBefore{series});
        follow_phase<<<blocks, threads, 0, stream>>>(work, series);
    }
    list_kept<<<1, 256, 0, stream>>>(work, 0, work.count);
    clear_what_some_lack<<<blocks, threads, 0, stream>>>(work, series);
    checked_launch("lay repeats over one another");
}

}  // namespace

void enqueue_moves(cudaStream_t stream, const RepeatWork& work, const RepeatShift* shifts, std::int64_t series,
                   int reference, bool likely_none) {
    const unsigned blocks = blocks_of_some(std::int64_t{work.slots()} * work.positions / aligning_warps, likely_none);
    move_in_depth<<<blocks, aligning_threads, 0, stream>>>(work, series);
    enqueue_phases(stream, work, AgainstReference{shifts, series, reference}, likely_none);
    checked_launch("move repeats in depth");
}

void enqueue_laying_over(cudaStream_t stream, const RepeatWork& work) {
    plan_what_is_kept<<<1, 256, 0, stream>>>(work);
    for (std::int64_t series = 0; series < work.repeats.series; ++series) enqueue_series(stream, work, series);
}

// ---- the buffers ----------------------------------------------------------------------------------------------------

namespace {

// Arrays one after the other in one piece of memory; from null, only counts how much that takes.
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
    carver.take(work.line_powers, slow * work.positions);
    carver.take(work.floors, slow);
    carver.take(work.bright, slots);
    carver.take(work.active, slots);
    carver.take(work.active_count, 1);
    carver.take(work.states, slow);
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
    carver.take(work.sums, lines);
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
        checked_launch("report where repeats lie");
    }
    return {{work.aligned, work.depth}, work.compared};
}

}  // namespace echolux::cuda
