// Doppler on the GPU (docs/algorithms.md, Flow). Live views compare neighbouring lines and average over a small window,
// which a single kernel does. Everything else (repeats, bulk motion, wide windows, power, uneven scans, unwrapping)
// takes two kernels: sums over lines, then over depth. Also computes the decorrelation of complex repeats.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <type_traits>

#include "compute/cuda/flow.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/on_chip.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

// Averages phase steps over a window of depth bins and lines, from their sums over the lines (enqueue_sums_over_lines).
// Passed to kernels by value.
struct WindowMean {
    const float4* sums;
    std::int64_t window_positions;
    std::int64_t window_depth;

    // Returns the mean at A-scan `a`.
    __device__ PhaseStep operator()(const FlowWork& work, std::int64_t slow, std::int64_t a, int z) const {
        return work.mixed(slow, a, [&](std::int64_t recorded) { return at(work, slow, recorded, z); });
    }

  private:
    __device__ PhaseStep at(const FlowWork& work, std::int64_t slow, std::int64_t recorded, int z) const {
        const std::int64_t positions = work.repeats.positions, position = min(recorded, positions - 1);
        const WindowSpan lines(position, window_positions, positions), bins(z, window_depth, work.depth);
        const float4* line = sums + (slow * positions + position) * work.depth;
        PhaseStep sum;
        for (std::int64_t i = bins.begin; i < bins.end; ++i) {
            const float4 value = __ldg(line + i);
            sum.add({{value.x, value.y}, value.z});
        }
        return sum.times(1.0f / static_cast<float>(lines.size() * bins.size() * work.compared_of(slow).pairs()));
    }
};

// ---- Phase step of whole lines (docs/algorithms.md, Flow): one thread block per pair of lines iterates over the
// depth, once to estimate and several times to trim.

namespace {

constexpr int threads = 128;

__global__ void __launch_bounds__(threads) find_bulk_steps(FlowWork work, BulkShare share, Phasor* steps) {
    using Reduce = cub::BlockReduce<BulkSum, threads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ Phasor estimate;
    const std::int64_t pairs_of_a_series = work.repeats.count - 1, pairs = work.repeats.pairs();
    const std::int64_t looked_at = blockIdx.x / pairs, pair = blockIdx.x % pairs;
    const std::int64_t slow = looked_at / work.repeats.positions, position = looked_at % work.repeats.positions;
    const std::int64_t line = work.repeats.line(position, pair / pairs_of_a_series, pair % pairs_of_a_series);
    if (pair % pairs_of_a_series + 1 >= work.compared_of(slow).count) return;
    const float2* earlier = work.column(slow, 0) + line * work.stride;
    const float2* later = earlier + work.repeats.step * work.stride;
    if (threadIdx.x == 0) estimate = {};
    BulkSum total;
    for (int pass = 0; pass <= BulkShare::trimmings; ++pass) {
        __syncthreads();
        BulkSum sum;
        for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += threads) {
            sum.add(share(phasor_at(earlier + z), phasor_at(later + z), estimate));
        }
        total = Reduce(storage).Reduce(sum, [](BulkSum a, const BulkSum& b) {
            a.add(b);
            return a;
        });
        __syncthreads();
        if (threadIdx.x == 0) estimate = bulk_estimate(total);
    }
    if (threadIdx.x == 0) steps[blockIdx.x] = bulk_step(total);
}

}  // namespace

void enqueue_bulk_steps(cudaStream_t stream, const FlowWork& work, float min_power, Phasor* steps) {
    const auto blocks = static_cast<unsigned>(work.looked_at() * work.repeats.pairs());
    find_bulk_steps<<<blocks, threads, 0, stream>>>(work, BulkShare{min_power}, steps);
    checked_launch("find bulk motion");
}

// ---- Decorrelation of complex repeats on the GPU, minus the parts explained by noise and by motion of a whole B-scan
// (docs/angiography.md): window means, then the median of each B-scan from a histogram, then voxels.

namespace {

constexpr int bins = BulkDecorrelation::bins;
constexpr std::int64_t least = min_compared(FlowMethod::complex_decorrelation);

// One block per output line.
__global__ void find_decorrelations(FlowWork work, WindowMean mean, DecorrelationOf decorrelation,
                                    DecorrelationBuffers buffers) {
    __shared__ std::uint32_t counts[bins];
    const std::int64_t slow = blockIdx.x / work.a_scans, a = blockIdx.x % work.a_scans;
    if (work.compared_of(slow).count < least) return;
    for (int i = static_cast<int>(threadIdx.x); i < bins; i += static_cast<int>(blockDim.x)) counts[i] = 0;
    __syncthreads();
    NoisyDecorrelation* line = buffers.found + blockIdx.x * std::int64_t{work.depth};
    for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += static_cast<int>(blockDim.x)) {
        const NoisyDecorrelation one = decorrelation(mean(work, slow, a, z));
        line[z] = one;
        const std::int32_t bin = BulkDecorrelation::bin_of(one);
        if (bin >= 0) atomicAdd(counts + bin, 1u);  // integers: the order does not matter
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < bins; i += static_cast<int>(blockDim.x)) {
        if (counts[i] > 0) atomicAdd(buffers.counts + slow * bins + i, counts[i]);
    }
}

// One block per B-scan.
__global__ void find_bulk(FlowWork work, DecorrelationBuffers buffers, RepeatReport* reports) {
    __shared__ std::uint32_t counts[bins];
    const auto slow = static_cast<std::int64_t>(blockIdx.x);
    for (int i = static_cast<int>(threadIdx.x); i < bins; i += static_cast<int>(blockDim.x))
        counts[i] = buffers.counts[slow * bins + i];
    __syncthreads();
    if (threadIdx.x != 0) return;
    const float bulk = BulkDecorrelation::median(counts);
    buffers.bulk[slow] = bulk;
    if (reports == nullptr || work.compared_of(slow).count < least) return;
    for (std::int64_t r = 0; r < work.repeats.count; ++r)
        reports[slow * work.repeats.count + r].bulk_decorrelation = bulk;
}

// One block per output line.
__global__ void store_decorrelations(FlowWork work, DecorrelationCode code, DecorrelationBuffers buffers) {
    const std::int64_t slow = blockIdx.x / work.a_scans, a = blockIdx.x % work.a_scans;
    const Repeats compared = work.compared_of(slow);
    const bool is_shown = compared.count >= least && buffers.bulk[slow] <= BulkDecorrelation::max_shown;
    const TargetRow row = work.row(slow, a);
    const NoisyDecorrelation* line = buffers.found + blockIdx.x * std::int64_t{work.depth};
    code.bulk = buffers.bulk[slow];
    code.deviations *= sqrtf(static_cast<float>(work.repeats.pairs()) / static_cast<float>(compared.pairs()));
    for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += static_cast<int>(blockDim.x))
        row.store(work.offset(z), is_shown ? code(line[z]) : std::uint16_t{0});
}

}  // namespace

void enqueue_decorrelation(cudaStream_t stream, const FlowWork& work, const FlowTables& tables,
                           const DecorrelationBuffers& buffers, RepeatReport* reports) {
    const auto lines = static_cast<unsigned>(work.outputs()), slow = static_cast<unsigned>(work.slow_positions);
    const std::size_t counts = slow * bins * sizeof(std::uint32_t);
    checked(cudaMemsetAsync(buffers.counts, 0, counts, stream), "clear counts of decorrelations");
    enqueue_sums_over_lines(stream, work, tables.window_positions, buffers.sums);
    const WindowMean mean{buffers.sums, tables.window_positions, tables.window_depth};
    find_decorrelations<<<lines, threads_of_a_line, 0, stream>>>(work, mean, DecorrelationOf{tables.noise_power},
                                                                 buffers);
    find_bulk<<<slow, threads_of_a_line, 0, stream>>>(work, buffers, reports);
    const DecorrelationCode code{tables.noise_power / tables.min_power, tables.deviations, 0};
    store_decorrelations<<<lines, threads_of_a_line, 0, stream>>>(work, code, buffers);
    checked_launch("find decorrelations");
}

// ---- Doppler between neighbouring lines over a small window, in a single kernel. Each lane processes two adjacent
// depths and walks along the lines with the last steps in registers. The lanes of a warp exchange their sums over
// depth.

namespace {

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int lanes = 32;

constexpr int max_lines = max_doppler_lines;  // max lines of the window
static_assert(max_doppler_depths == lanes / 2);
constexpr int warps = 1;  // per block: few walks read the same tile of bins, and multiprocessors are loaded evenly
constexpr int walk = 32;  // A-scans per walk
__device__ const float4 nothing{};  // read by lanes outside the depth range

__host__ __device__ constexpr int walks_along(int positions) {
    return (positions + walk - 1) / walk;
}

// Lanes at both ends of a warp without their own voxels. Warps overlap by the depth window, so that each storing lane
// has its neighbours.
struct Overlap {
    int before;
    int after;

    __host__ __device__ constexpr explicit Overlap(int bins) : before((bins + 2) / 4), after((bins + 1) / 4) {}

    __host__ __device__ constexpr int storing() const { return lanes - before - after; }
};

// The steps of a lane's two adjacent depths, the first of which is even.
struct StepPair {
    PhaseStep first;
    PhaseStep second;

    __device__ void add(const StepPair& other) {
        first.add(other.first);
        second.add(other.second);
    }
};

// The two adjacent bins of a lane, as in memory, so that nothing waits for the load before its use. `wide`: loaded
// together.
template <class Bin, bool wide>
struct LaneBins {
    Bin first;
    Bin second;

    __device__ void fetch(const Bin* bin, bool has_second) {
        first = bin[0];
        second = has_second ? bin[1] : Bin{};
    }
};

template <class Bin>
struct alignas(2 * sizeof(Bin)) LaneBins<Bin, true> {
    Bin first;
    Bin second;

    __device__ void fetch(const Bin* bin, bool) {
        using Word = std::conditional_t<sizeof(Bin) == 8, float4, float2>;
        const Word both = __ldg(reinterpret_cast<const Word*>(bin));
        *this = reinterpret_cast<const LaneBins&>(both);
    }
};

// Lines loaded ahead of the current step, to hide the latency of the L2 cache.
template <class Bin>
constexpr int ahead = sizeof(Bin) == 8 ? 3 : 4;

// Steps from each line to the next, in order. Their power is twice the mean.
template <class Bin, bool wide>
class NeighbourSteps {
  public:
    __device__ NeighbourSteps(const FlowWorkOn<Bin>& work, int slow, int z, int first) {
        const bool is_inside = z >= 0 && z < work.depth;
        has_second_ = is_inside && z + 1 < work.depth;
        stride_ = is_inside ? static_cast<int>(work.stride) : 0;
        bin_ = is_inside ? work.column(slow, z) + first * work.stride : reinterpret_cast<const Bin*>(&nothing);
        LaneBins<Bin, wide> own;
        own.fetch(bin_, has_second_);
        const int lines = static_cast<int>(work.repeats.positions) + 1;
#pragma unroll
        for (int i = 0; i < ahead<Bin>; ++i) {
            bin_ += first + 1 + i < lines ? stride_ : 0;
            later_[i].fetch(bin_, has_second_);
        }
        first_.begin(phasor_of(own.first));
        second_.begin(phasor_of(own.second));
    }

    // `has_next`: there is another line after those already loading.
    __device__ StepPair next(bool has_next) {
        const StepPair steps{first_.to(phasor_of(later_[0].first)), second_.to(phasor_of(later_[0].second))};
#pragma unroll
        for (int i = 1; i < ahead<Bin>; ++i) later_[i - 1] = later_[i];
        bin_ += has_next ? stride_ : 0;
        later_[ahead<Bin> - 1].fetch(bin_, has_second_);
        return steps;
    }

  private:
    // The bin of the previous line, and its power, which two steps use.
    struct Earlier {
        Phasor bin;
        float power = 0;

        __device__ void begin(Phasor own) {
            bin = own;
            power = power_of(own);
        }
        // Returns the step from the previous line. Its power is twice the mean.
        __device__ PhaseStep to(Phasor later) {
            const PhaseStep step{phase_difference(later, bin), power + power_of(later)};
            begin(later);
            return step;
        }
    };

    bool has_second_;
    int stride_;
    const Bin* bin_;  // bin of the last line being loaded
    Earlier first_;
    Earlier second_;
    LaneBins<Bin, wide> later_[ahead<Bin>];
};

// Sums of `lines` steps around each A-scan, starting at `first`. The order of additions does not depend on the start of
// a walk, and neither do the bits.
template <int lines, class Bin, bool wide>
class LineWindow {
  public:
    __device__ LineWindow(const FlowWorkOn<Bin>& work, int slow, int z, int first)
        : steps_of_(work, slow, z, max(first - lines / 2, 0)) {
#pragma unroll
        for (int i = 1; i < lines; ++i) {
            const int line = first - lines / 2 + i - 1;
            if (line < 0) {
                add({});
            } else {
                take(line, static_cast<int>(work.repeats.positions));
            }
        }
    }

    // `line` is the last line of the window. Lines before `end` have steps.
    __device__ StepPair next(int line, int end) {
        take(line, end);
        StepPair sum = steps_[0];
#pragma unroll
        for (int i = 2; i < lines; i += 2) sum.add(steps_[i]);
        return sum;
    }

  private:
    __device__ void take(int line, int end) {
        const StepPair steps = steps_of_.next(line + ahead<Bin> < end);
        add(line < end ? steps : StepPair{});
    }

    __device__ void add(const StepPair& steps) {
#pragma unroll
        for (int i = 1; i < lines; ++i) steps_[i - 1] = steps_[i];
        if constexpr (lines > 1) steps_[lines - 2].add(steps);
        steps_[lines - 1] = steps;
    }

    NeighbourSteps<Bin, wide> steps_of_;
    StepPair steps_[lines];  // each summed with its successor, except the last
};

// Sums over the bins around both bins of a lane: first the bins common to both windows, then the outermost. With
// `depth` 0, `width` is the number of bins.
template <int depth>
__device__ inline StepPair over_depth(const StepPair& own, int lane, int width) {
    const int bins = depth == 0 ? width : depth, before = bins / 2, after = bins - 1 - before;
    const auto at = [&](int bin) -> PhaseStep {  // relative to the lane's first bin
        const PhaseStep& step = bin % 2 == 0 ? own.first : own.second;
        if (bin == 0 || bin == 1) return step;
        const int other = lane + (bin >> 1);
        return {{__shfl_sync(all_lanes, step.product.re, other), __shfl_sync(all_lanes, step.product.im, other)},
                __shfl_sync(all_lanes, step.power, other)};
    };
    StepPair sums{at(-before), at(after + 1)};
    if (bins == 1) return sums;
    PhaseStep common = at(1 - before);
#pragma unroll
    for (int bin = 2 - before; bin <= after; ++bin) common.add(at(bin));
    sums.add({common, common});
    return sums;
}

// How a lane reads two bins and stores two voxels. `pairs`: bins together, and voxels if aligned. `pairs_to_surface`:
// both together.
enum class Access { one_by_one, pairs, pairs_to_surface };

// Two adjacent voxels of a row.
template <Access access>
class VoxelPair {
  public:
    template <class Work>
    __device__ VoxelPair(const Work& work, int z, bool is_stored, std::uintptr_t row_bits)
        : offset_(work.offset(z)), offset_of_second_(work.offset(z + 1)), has_first_(is_stored && z < work.depth),
          has_second_(is_stored && z + 1 < work.depth),
          at_once_(has_second_ && (row_bits | static_cast<std::uintptr_t>(low())) % sizeof(std::uint32_t) == 0) {}

    __device__ void store(const TargetRow& row, std::uint16_t first, std::uint16_t second) const {
        if (!has_first_) return;
        const std::uint32_t both = __byte_perm(first, second, offset_ < offset_of_second_ ? 0x5410 : 0x1054);
        if constexpr (access == Access::pairs_to_surface) {
            return surf3Dwrite(both, row.surface, low(), row.a_scan, row.slice);
        }
        if (at_once_) return row.store(low(), both);
        row.store(offset_, first);
        if (has_second_) row.store(offset_of_second_, second);
    }

  private:
    __device__ int low() const { return min(offset_, offset_of_second_); }

    int offset_;
    int offset_of_second_;
    bool has_first_;
    bool has_second_;
    bool at_once_;
};

template <int lines, int depth, class Bin, Access access>
__global__ void __launch_bounds__(warps* lanes)
    store_phasors(const __grid_constant__ FlowWorkOn<Bin> work, int width, PhasorCode code) {
    const int bins = depth == 0 ? width : depth;
    const Overlap overlap(bins);
    const int warp = static_cast<int>(blockIdx.y) * warps + static_cast<int>(threadIdx.x) / lanes;
    if (2 * warp * overlap.storing() >= work.depth) return;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int z = 2 * (warp * overlap.storing() + lane - overlap.before);
    const bool stores = lane >= overlap.before && lane < lanes - overlap.after;
    const int positions = static_cast<int>(work.repeats.positions), walks = walks_along(positions);
    const int slow = static_cast<int>(blockIdx.x) / walks;
    const int first = static_cast<int>(blockIdx.x) % walks * walk, end = min(first + walk, positions);

    TargetRow row = work.row(slow, work.order.recorded(first, work.is_reversed(slow)));
    const int direction = work.is_reversed(slow) ? -1 : 1;
    const std::int64_t row_bytes = row.linear == nullptr ? 0 : direction * work.target.a_scan_bytes;
    const VoxelPair<access> voxels(
        work, z, stores, reinterpret_cast<std::uintptr_t>(row.linear) | static_cast<std::uintptr_t>(row_bytes));
    LineWindow<lines, Bin, access != Access::one_by_one> window(work, slow, z, first);
    const auto share_of = [](int i, int size, int count) {
        return 1.0f / static_cast<float>(WindowSpan(i, size, count).size());
    };
    // Factors for powers that are twice the mean.
    const float of_first = 0.5f * share_of(z, bins, work.depth), of_second = 0.5f * share_of(z + 1, bins, work.depth);
    std::uint16_t codes[2]{};
    const auto store = [&] {
        voxels.store(row, codes[0], codes[1]);
        row.linear += row_bytes;
        row.a_scan += direction;
    };
    // `is_whole`: the window and the lines loading after it are all within the range.
    const auto step_to = [&](int position, auto is_whole) {
        const int last = position - lines / 2 + lines - 1;
        const float of_lines = is_whole ? 1.0f / lines : share_of(position, lines, positions);
        const StepPair sums =
            over_depth<depth>(window.next(last, is_whole ? last + 1 + ahead<Bin> : positions), lane, width);
        codes[0] = code({sums.first.product, sums.first.power * (of_lines * of_first)});  // directions need no mean
        codes[1] = code({sums.second.product, sums.second.power * (of_lines * of_second)});
        store();
    };
    int position = first;
    for (; position < min(lines / 2, end); ++position) step_to(position, std::false_type{});
#pragma unroll 4
    for (; position < min(positions - lines + lines / 2 + 1 - ahead<Bin>, end); ++position)
        step_to(position, std::true_type{});
    for (; position < end; ++position) step_to(position, std::false_type{});
    // The last line has no partner and repeats its neighbour's result.
    if (end == positions && positions < work.a_scans) store();
}

template <int lines, int depth, class Bin>
void launch_walk(cudaStream_t stream, const FlowWorkOn<Bin>& work, int width, const PhasorCode& code) {
    const std::int64_t walks = work.slow_positions * walks_along(static_cast<int>(work.repeats.positions));
    const int stored = 2 * warps * Overlap(width).storing();
    const dim3 blocks(static_cast<unsigned>(walks), static_cast<unsigned>((work.depth + stored - 1) / stored));
    const auto bits =
        reinterpret_cast<std::uintptr_t>(work.bins) | static_cast<std::uintptr_t>(work.stride) * sizeof(Bin);
    const bool pairs = bits % (2 * sizeof(Bin)) == 0 && work.depth % 2 == 0;
    const auto kernel = !pairs                          ? store_phasors<lines, depth, Bin, Access::one_by_one>
                        : work.target.linear != nullptr ? store_phasors<lines, depth, Bin, Access::pairs>
                                                        : store_phasors<lines, depth, Bin, Access::pairs_to_surface>;
    kernel<<<blocks, warps * lanes, 0, stream>>>(work, width, code);
}

// Calls launch_walk with the number of lines as a compile-time constant.
template <int lines, class Bin>
void launch_walk_of(cudaStream_t stream, const FlowWorkOn<Bin>& work, const FlowTables& tables,
                    const PhasorCode& code) {
    const auto width = static_cast<int>(tables.window_depth);
    if (tables.window_positions != lines) {
        if constexpr (lines > 1) launch_walk_of<lines - 1>(stream, work, tables, code);
    } else if (width == 3) {
        launch_walk<lines, 3>(stream, work, width, code);
    } else {
        launch_walk<lines, 0>(stream, work, width, code);
    }
}

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
struct CarriedTurns {
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
        CarriedTurns so_far;
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

void enqueue_doppler(cudaStream_t stream, const FlowWork& work, const FlowTables& tables,
                     const DopplerBuffers& buffers) {
    enqueue_two_kernels(stream, work, tables, buffers);
    checked_launch("find phase steps");
}

void enqueue_doppler_in_one_kernel(cudaStream_t stream, const FlowWork& work, const FlowTables& tables) {
    launch_walk_of<max_lines>(stream, work, tables, {tables.min_power, tables.negative});
    checked_launch("find phase steps");
}

void enqueue_doppler_in_one_kernel(cudaStream_t stream, const FlowWorkOn<HalfBin>& work, const FlowTables& tables) {
    launch_walk_of<max_lines>(stream, work, tables, {tables.min_power, tables.negative});
    checked_launch("find phase steps");
}

}  // namespace echolux::cuda
