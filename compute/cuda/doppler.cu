// Doppler on the GPU (docs/algorithms.md, Flow). Live views compare neighbouring lines and average over a small window,
// which a single kernel does (doppler_walk.cuh). Everything else (repeats, bulk motion, wide windows, power, uneven
// scans, unwrapping) takes two kernels: sums over lines, then over depth.
#include <cub/block/block_scan.cuh>

#include "compute/cuda/doppler_walk.cuh"
#include "compute/cuda/flow_work.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/window_mean.cuh"

namespace echolux::cuda {
namespace {

// One block per recorded A-scan position: sums over the lines of its window and all their pairs of repeats.
__global__ void sum_over_lines(FlowWork work, std::int64_t window, float4* sums) {
    const std::int64_t slow = blockIdx.x / work.repeats.positions, position = blockIdx.x % work.repeats.positions;
    const Repeats repeats = work.compared_of(slow);
    const WindowSpan span(position, window, repeats.positions);
    for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += static_cast<int>(blockDim.x)) {
        const float2* column = work.column(slow, z);
        PhaseStep sum;
        for (std::int64_t p = span.begin; p < span.end; ++p) {
            for (std::int64_t s = 0; s < repeats.series; ++s) {
                Phasor earlier = phasor_at(column + repeats.line(p, s, 0) * work.stride);
                for (std::int64_t i = 1; i < repeats.count; ++i) {
                    const Phasor later = phasor_at(column + repeats.line(p, s, i) * work.stride);
                    sum.add(phase_step(earlier, later, work.bulk_of(slow, p, s, i - 1)));
                    earlier = later;
                }
            }
        }
        sums[blockIdx.x * std::int64_t{work.depth} + z] = {sum.product.re, sum.product.im, sum.power, 0};
    }
}

struct PowerDopplerCode {
    PowerDoppler power;

    __device__ std::uint16_t operator()(const PhaseStep& mean) const { return Half{}(power(mean)); }
};

// One block per output line.
template <class Code>
__global__ void store_means(FlowWork work, WindowMean mean, Code code) {
    const std::int64_t slow = blockIdx.x / work.a_scans, a = blockIdx.x % work.a_scans;
    const TargetRow row = work.row(slow, a);
    for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += static_cast<int>(blockDim.x)) {
        row.store(work.offset(z), code(mean(work, slow, a, z)));
    }
}

// ---- unwrapping -----------------------------------------------------------------------------------------------------

constexpr int unwrapping_threads = 256;

// Turns of a bin relative to the previous one or, at the start of a run, in total.
struct Turns {
    int turns = 0;
    bool is_head = true;
};

// Associative operator of the scan: a head restarts the sum.
struct AddTurns {
    __device__ Turns operator()(const Turns& before, const Turns& own) const {
        return own.is_head ? own : Turns{before.turns + own.turns, before.is_head};
    }
};

// Carries the turns from one part of a line to the next.
struct TurnsSoFar {
    Turns turns;

    __device__ Turns operator()(const Turns& part) {
        const Turns before = turns;
        turns = AddTurns{}(before, part);
        return before;
    }
};

// NaN marks masked bins.
__device__ inline bool is_known(float phase) {
    return phase == phase;
}

// One block per slow-axis position, which iterates over its A-scans. phases: [slow][wrapped phases of this line |
// unwrapped phases of the previous line][depth].
__global__ void __launch_bounds__(unwrapping_threads)
    store_unwrapped(FlowWork work, WindowMean mean, float min_power, bool negative, VelocityCode code, float* phases) {
    using Scan = cub::BlockScan<Turns, unwrapping_threads>;
    __shared__ typename Scan::TempStorage storage;
    const std::int64_t slow = blockIdx.x;
    float* wrapped = phases + slow * 2 * work.depth;
    float* unwrapped = wrapped + work.depth;
    const auto thread = static_cast<int>(threadIdx.x);
    for (int z = thread; z < work.depth; z += unwrapping_threads) unwrapped[z] = NAN;
    for (int a = 0; a < work.a_scans; ++a) {
        for (int z = thread; z < work.depth; z += unwrapping_threads) {
            const PhaseStep step = mean(work, slow, a, z);
            wrapped[z] = step.power >= min_power ? phase_of(step, negative) : NAN;
        }
        __syncthreads();
        const TargetRow row = work.row(slow, a);
        TurnsSoFar so_far;
        for (int part = 0; part < work.depth; part += unwrapping_threads) {
            const int z = part + thread;
            const float phase = z < work.depth ? wrapped[z] : NAN;
            const float above = z > 0 && z < work.depth ? wrapped[z - 1] : NAN;
            Turns turns;
            if (is_known(phase)) {
                turns.is_head = !is_known(above);
                const float reference = turns.is_head ? unwrapped[z] : above;
                if (is_known(reference)) turns.turns = turns_towards(reference, phase);
            }
            Scan(storage).InclusiveScan(turns, turns, AddTurns{}, so_far);
            __syncthreads();
            if (z >= work.depth) continue;
            constexpr float turn = 2 * std::numbers::pi_v<float>;
            unwrapped[z] = multiply_add(static_cast<float>(turns.turns), turn, phase);
            row.store(work.offset(z), is_known(phase) ? code(phase, turns.turns) : std::uint16_t{0});
        }
        __syncthreads();
    }
}

void enqueue_two_kernels(cudaStream_t stream, const FlowWork& work, const FlowTables& tables,
                         const DopplerBuffers& buffers) {
    enqueue_sums_over_lines(stream, work, tables.window_positions, buffers.sums);
    const WindowMean mean{buffers.sums, tables.window_positions, tables.window_depth};
    const auto blocks = static_cast<unsigned>(work.outputs());
    if (tables.method == FlowMethod::power_doppler) {
        const PowerDopplerCode code{{tables.min_power, tables.noise_power}};
        store_means<<<blocks, threads_of_a_line, 0, stream>>>(work, mean, code);
    } else if (tables.unwraps) {
        store_unwrapped<<<static_cast<unsigned>(work.slow_positions), unwrapping_threads, 0, stream>>>(
            work, mean, tables.min_power, tables.negative, VelocityCode{tables.mm_s_per_rad}, buffers.phases);
    } else {
        const PhasorCode code{tables.min_power, tables.negative};
        store_means<<<blocks, threads_of_a_line, 0, stream>>>(work, mean, code);
    }
}

}  // namespace

void enqueue_sums_over_lines(cudaStream_t stream, const FlowWork& work, std::int64_t window, float4* sums) {
    sum_over_lines<<<static_cast<unsigned>(work.looked_at()), threads_of_a_line, 0, stream>>>(work, window, sums);
    checked_launch("sum over lines");
}

bool doppler_needs_buffers(const FlowTables& tables, bool mixes) {
    const Repeats& repeats = tables.repeats;
    const bool neighbours =
        repeats.count == 2 && repeats.step == 1 && repeats.series == 1 && repeats.position_step == 1;
    if (tables.method == FlowMethod::power_doppler) return true;
    if (tables.method != FlowMethod::doppler) return false;
    return !neighbours || mixes || tables.removes_bulk || tables.unwraps || tables.window_positions > max_lines ||
           tables.window_depth > lanes / 2;
}

void enqueue_doppler(cudaStream_t stream, const FlowWork& work, const FlowTables& tables,
                     const DopplerBuffers& buffers) {
    if (doppler_needs_buffers(tables, work.mixes != nullptr)) {
        enqueue_two_kernels(stream, work, tables, buffers);
    } else {
        launch_walk_of<max_lines>(stream, work, tables, {tables.min_power, tables.negative});
    }
    checked_launch("find phase steps");
}

void enqueue_doppler_in_one_kernel(cudaStream_t stream, const FlowWorkOn<HalfBin>& work, const FlowTables& tables) {
    launch_walk_of<max_lines>(stream, work, tables, {tables.min_power, tables.negative});
    checked_launch("find phase steps");
}

}  // namespace echolux::cuda
