// Bulk motion phase of each A-scan of a repeat relative to another one. All passes over a block's A-scans run in one
// kernel, in shared memory and while the bins are cached. The block also computes the neighbouring A-scans that later
// passes need.
#pragma once

#include "compute/cuda/repeat_work.cuh"

namespace echolux::cuda {

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

}  // namespace echolux::cuda
