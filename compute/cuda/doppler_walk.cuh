// Doppler between neighbouring lines over a small window, in a single kernel. Each lane processes two adjacent depths
// and walks along the lines with the last steps in registers. The lanes of a warp exchange their sums over depth.
// Included by doppler.cu only.
#pragma once

#include <type_traits>

#include "compute/cuda/flow_work.h"
#include "compute/cuda/launch.h"

namespace echolux::cuda {
namespace {

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int lanes = 32;

constexpr int max_lines = 8;  // max lines of the window
constexpr int warps = 1;      // per block: few walks read the same tile of bins, and multiprocessors are loaded evenly
constexpr int walk = 32;      // A-scans per walk
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

}  // namespace
}  // namespace echolux::cuda
