// Doppler on the GPU (docs/algorithms.md, Flow). Live views compare neighbouring lines and average over a small window:
// for them one kernel, in which a thread keeps to its depth and walks along the lines, the last steps in registers, and
// the lanes of a warp add up over depth. Everything else, repeats, bulk motion, wide windows, power, uneven scans
// and unwrapping, takes two kernels: sums over lines first, then over depth.
#include <cub/block/block_scan.cuh>

#include "compute/cuda/flow_work.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"

namespace echolux::cuda {
namespace {

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int lanes = 32;

// ---- one kernel -----------------------------------------------------------------------------------------------------

constexpr int most_lines = 8;  // of its window
constexpr int warps = 4;       // of a block
constexpr int strips = 2;
constexpr int walk = 32;            // A-scans that a warp goes along
__device__ const float2 nothing{};  // that lanes beyond the ends of depth see

__host__ __device__ constexpr int walks_along(int positions) {
    return (positions + walk - 1) / walk;
}

// Steps from each line to the next at one depth, in their order; the line after the next is under way already.
class NeighbourSteps {
  public:
    __device__ NeighbourSteps(const FlowWork& work, int slow, int z, int first) {
        const bool is_inside = z >= 0 && z < work.depth;
        stride_ = is_inside ? static_cast<int>(work.stride) : 0;
        bin_ = is_inside ? work.column(slow, z) + first * work.stride : &nothing;
        earlier_ = FlowWork::look(bin_);
        later_ = FlowWork::look(bin_ += stride_);
    }

    // `has_next`: there is a line beyond those of this step.
    __device__ PhaseStep next(bool has_next) {
        const PhaseStep step = phase_step(earlier_, later_);
        earlier_ = later_;
        later_ = FlowWork::look(bin_ += has_next ? stride_ : 0);
        return step;
    }

  private:
    int stride_;
    const float2* bin_;  // of `later`
    Phasor earlier_;
    Phasor later_;
};

// Sums over the `lines` steps around each A-scan from `first` on, at one depth. Added up anew each time, so that the
// bits do not depend on where a walk begins.
template <int lines>
class LineWindow {
  public:
    __device__ LineWindow(const FlowWork& work, int slow, int z, int first)
        : steps_of_(work, slow, z, max(first - lines / 2, 0)) {
#pragma unroll
        for (int i = 1; i < lines; ++i) {
            const int line = first - lines / 2 + i - 1;
            add(line >= 0 ? new_step(line, static_cast<int>(work.looks.positions)) : PhaseStep{});
        }
    }

    // `line`: the last that the window reaches.
    __device__ PhaseStep next(int line, int positions) {
        add(new_step(line, positions));
        PhaseStep sum = steps_[0];
#pragma unroll
        for (int i = 1; i < lines; ++i) sum.add(steps_[i]);
        return sum;
    }

  private:
    __device__ PhaseStep new_step(int line, int positions) {
        const PhaseStep step = steps_of_.next(line + 1 < positions);
        return line < positions ? step : PhaseStep{};
    }

    __device__ void add(const PhaseStep& step) {
#pragma unroll
        for (int i = 1; i < lines; ++i) steps_[i - 1] = steps_[i];
        steps_[lines - 1] = step;
    }

    NeighbourSteps steps_of_;
    PhaseStep steps_[lines];
};

// Sum over the lanes around each. `depth` 0: as many as `width` says.
template <int depth>
__device__ inline PhaseStep over_depth(const PhaseStep& own, int lane, int width) {
    const int bins = depth == 0 ? width : depth;
    const auto of = [&](int other) -> PhaseStep {
        return {{__shfl_sync(all_lanes, own.product.re, other), __shfl_sync(all_lanes, own.product.im, other)},
                __shfl_sync(all_lanes, own.power, other)};
    };
    PhaseStep sum = of(lane - bins / 2);
#pragma unroll
    for (int d = 1 - bins / 2; d < bins - bins / 2; ++d) sum.add(d == 0 ? own : of(lane + d));
    return sum;
}

// A strip is what the lanes of a warp see of depth at a time. Strips overlap by the window, so that each lane which
// stores has its neighbours.
template <int lines, int depth>
__global__ void __launch_bounds__(warps* lanes)
    store_phasors(const __grid_constant__ FlowWork work, int width, PhasorCode code) {
    const int bins = depth == 0 ? width : depth, stored = lanes - bins + 1;
    const int warp = static_cast<int>(blockIdx.y) * warps + static_cast<int>(threadIdx.x) / lanes;
    if (warp * strips * stored >= work.depth) return;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int z = warp * strips * stored + lane - bins / 2;
    const bool stores = lane >= bins / 2 && lane < bins / 2 + stored;
    const int positions = static_cast<int>(work.looks.positions), walks = walks_along(positions);
    const int slow = static_cast<int>(blockIdx.x) / walks;
    const int first = static_cast<int>(blockIdx.x) % walks * walk, end = min(first + walk, positions);

    TargetRow row = work.row(slow, work.order.recorded(first, work.is_reversed(slow)));
    const int direction = work.is_reversed(slow) ? -1 : 1;
    const std::int64_t row_bytes = row.linear == nullptr ? 0 : direction * work.target.a_scan_bytes;
    LineWindow<lines> windows[strips]{{work, slow, z, first}, {work, slow, z + stored, first}};
    const auto share_of_depth = [&](int strip) {
        return 1.0f / static_cast<float>(WindowSpan(z + strip * stored, bins, work.depth).size());
    };
    const float of_depth[strips]{share_of_depth(0), share_of_depth(1)};
    std::uint16_t voxels[strips]{};
    const auto store = [&] {
#pragma unroll
        for (int s = 0; s < strips; ++s) {
            if (stores && z + s * stored < work.depth) row.store(work.offset(z + s * stored), voxels[s]);
        }
        row.linear += row_bytes;
        row.a_scan += direction;
    };
    int cut = 0;  // lines of the window that are not there
    float share = 1.0f / static_cast<float>(lines);
#pragma unroll 4
    for (int position = first; position < end; ++position) {
        const int from = position - lines / 2, to = from + lines;
        const int cut_here = max(-from, 0) + max(to - positions, 0);
        if (cut != cut_here) {
            cut = cut_here;
            share = 1.0f / static_cast<float>(lines - cut);
        }
#pragma unroll
        for (int s = 0; s < strips; ++s) {
            const PhaseStep sum = over_depth<depth>(windows[s].next(to - 1, positions), lane, width);
            voxels[s] = code(sum.times(share * of_depth[s]));
        }
        store();
    }
    // The last line has no partner: it has its neighbour's.
    if (end == positions && positions < work.a_scans) store();
}

template <int lines, int depth>
void launch_walk(cudaStream_t stream, const FlowWork& work, int width, const PhasorCode& code) {
    const std::int64_t walks = work.slow_positions * walks_along(static_cast<int>(work.looks.positions));
    const int stored = warps * strips * (lanes - width + 1);
    const dim3 blocks(static_cast<unsigned>(walks), static_cast<unsigned>((work.depth + stored - 1) / stored));
    store_phasors<lines, depth><<<blocks, warps * lanes, 0, stream>>>(work, width, code);
}

// Calls launch_walk with the window's lines known at compile time.
template <int lines>
void launch_walk_of(cudaStream_t stream, const FlowWork& work, const FlowTables& tables, const PhasorCode& code) {
    const auto width = static_cast<int>(tables.window_depth);
    if (tables.window_positions != lines) {
        if constexpr (lines > 1) launch_walk_of<lines - 1>(stream, work, tables, code);
    } else if (width == 3) {
        launch_walk<lines, 3>(stream, work, width, code);
    } else {
        launch_walk<lines, 0>(stream, work, width, code);
    }
}

// ---- two kernels ----------------------------------------------------------------------------------------------------

// A block has one recorded A-scan position: sums over its window's lines, and all pairs of looks at them.
__global__ void sum_over_lines(FlowWork work, std::int64_t window, float4* sums) {
    const Looks& looks = work.looks;
    const std::int64_t slow = blockIdx.x / looks.positions, position = blockIdx.x % looks.positions;
    const WindowSpan span(position, window, looks.positions);
    for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += static_cast<int>(blockDim.x)) {
        const float2* column = work.column(slow, z);
        PhaseStep sum;
        for (std::int64_t p = span.begin; p < span.end; ++p) {
            for (std::int64_t s = 0; s < looks.series; ++s) {
                Phasor earlier = FlowWork::look(column + looks.line(p, s, 0) * work.stride);
                for (std::int64_t i = 1; i < looks.count; ++i) {
                    const Phasor later = FlowWork::look(column + looks.line(p, s, i) * work.stride);
                    sum.add(phase_step(earlier, later, work.bulk_of(slow, p, s, i - 1)));
                    earlier = later;
                }
            }
        }
        sums[blockIdx.x * std::int64_t{work.depth} + z] = {sum.product.re, sum.product.im, sum.power, 0};
    }
}

// Means over the whole window, from sums over lines.
struct WindowMean {
    const float4* sums;
    std::int64_t window_positions;
    std::int64_t window_depth;

    // Of A-scan `a`.
    __device__ PhaseStep operator()(const FlowWork& work, std::int64_t slow, std::int64_t a, int z) const {
        return work.mixed(slow, a, [&](std::int64_t recorded) { return at(work, slow, recorded, z); });
    }

  private:
    __device__ PhaseStep at(const FlowWork& work, std::int64_t slow, std::int64_t recorded, int z) const {
        const std::int64_t positions = work.looks.positions, position = min(recorded, positions - 1);
        const WindowSpan lines(position, window_positions, positions), bins(z, window_depth, work.depth);
        const float4* line = sums + (slow * positions + position) * work.depth;
        PhaseStep sum;
        for (std::int64_t i = bins.begin; i < bins.end; ++i) {
            const float4 value = __ldg(line + i);
            sum.add({{value.x, value.y}, value.z});
        }
        return sum.times(1.0f / static_cast<float>(lines.size() * bins.size() * work.looks.pairs()));
    }
};

struct PowerDopplerCode {
    PowerDoppler power;

    __device__ std::uint16_t operator()(const PhaseStep& mean) const { return Half{}(power(mean)); }
};

// A block has one output line.
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

// Turns of a bin from the one before, or, at the head of a run, in all.
struct Turns {
    int turns = 0;
    bool is_head = true;
};

struct AddTurns {
    __device__ Turns operator()(const Turns& before, const Turns& own) const {
        return own.is_head ? own : Turns{before.turns + own.turns, before.is_head};
    }
};

// What runs on from one part of a line to the next.
struct TurnsSoFar {
    Turns turns;

    __device__ Turns operator()(const Turns& part) {
        const Turns before = turns;
        turns = AddTurns{}(before, part);
        return before;
    }
};

// NaN: nothing is known.
__device__ inline bool is_known(float phase) {
    return phase == phase;
}

// A block has one slow position and goes along its A-scans. phases: [slow][wrapped, of this line | unwrapped, of the
// line before][depth].
__global__ void __launch_bounds__(unwrapping_threads) store_unwrapped(FlowWork work, WindowMean mean, float least_power,
                                                                      bool negative, VelocityCode code, float* phases) {
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
            wrapped[z] = step.power >= least_power ? phase_of(step, negative) : NAN;
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
    sum_over_lines<<<static_cast<unsigned>(work.looked_at()), threads_of_a_line, 0, stream>>>(
        work, tables.window_positions, buffers.sums);
    const WindowMean mean{buffers.sums, tables.window_positions, tables.window_depth};
    const auto blocks = static_cast<unsigned>(work.outputs());
    if (tables.method == FlowMethod::power_doppler) {
        const PowerDopplerCode code{{tables.least_power, tables.noise_power}};
        store_means<<<blocks, threads_of_a_line, 0, stream>>>(work, mean, code);
    } else if (tables.unwraps) {
        store_unwrapped<<<static_cast<unsigned>(work.slow_positions), unwrapping_threads, 0, stream>>>(
            work, mean, tables.least_power, tables.negative, VelocityCode{tables.mm_s_per_rad}, buffers.phases);
    } else {
        const PhasorCode code{tables.least_power, tables.negative};
        store_means<<<blocks, threads_of_a_line, 0, stream>>>(work, mean, code);
    }
}

}  // namespace

bool doppler_needs_buffers(const FlowTables& tables, bool mixes) {
    const Looks& looks = tables.looks;
    const bool neighbours = looks.count == 2 && looks.step == 1 && looks.series == 1 && looks.position_step == 1;
    if (tables.method == FlowMethod::power_doppler) return true;
    if (tables.method != FlowMethod::doppler) return false;
    return !neighbours || mixes || tables.removes_bulk || tables.unwraps || tables.window_positions > most_lines ||
           tables.window_depth > lanes / 2;
}

void enqueue_doppler(cudaStream_t stream, const FlowWork& work, const FlowTables& tables,
                     const DopplerBuffers& buffers) {
    if (doppler_needs_buffers(tables, work.mixes != nullptr)) {
        enqueue_two_kernels(stream, work, tables, buffers);
    } else {
        launch_walk_of<most_lines>(stream, work, tables, {tables.least_power, tables.negative});
    }
    checked_launch("find phase steps");
}

}  // namespace echolux::cuda
