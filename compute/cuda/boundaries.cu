// Search for boundaries on a GPU: the steps that a GPU divides in another way than a CPU. Their order and all others
// are in compute/boundary_search_on.h. The volume and its prefix sums in depth stay in GPU memory.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "compute/boundary_search_on.h"
#include "compute/cuda/entry.h"
#include "compute/cuda/executor.cuh"
#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

inline constexpr unsigned all_lanes = 0xffffffffu;

// ---- Mean profiles of blocks and their cuts, and the A-scans with signal.

// Computes mean profiles, [block][bin], with one thread block each. Its threads are bins.
__global__ void __launch_bounds__(threads_of_a_range)
    average_blocks(LayerVolume volume, BlocksOfLines blocks, float* profiles) {
    const std::int64_t block = blockIdx.x, a = block % blocks.along_a.count, b = block / blocks.along_a.count;
    float* profile = profiles + block * blocks.bins;
    __shared__ int first, last;
    if (threadIdx.x == 0) {
        first = blocks.bins;
        last = -1;
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < blocks.bins; i += threads_of_a_range) {
        double sum = 0;
        std::int64_t count = 0;
        for (std::int64_t y = blocks.along_b.begin(b); y < blocks.along_b.begin(b + 1); ++y) {
            for (std::int64_t x = blocks.along_a.begin(a); x < blocks.along_a.begin(a + 1); ++x) {
                const float* line = volume.line(y * volume.a_scans + x);
                const float both = line[2 * i] + line[2 * i + 1];
                if (!is_recorded(both)) continue;
                sum += static_cast<double>(both);
                ++count;
            }
        }
        profile[i] = count > 0 ? static_cast<float>(sum / static_cast<double>(rows_of_a_bin * count)) : 0;
        if (count == 0) continue;
        atomicMin(&first, i);
        atomicMax(&last, i);
    }
    __syncthreads();
    if (last < 0) return;
    for (int i = static_cast<int>(threadIdx.x); i < blocks.bins; i += threads_of_a_range) {
        if (i < first || i > last) profile[i] = profile[i < first ? first : last];
    }
}

// Arguments of cut_profiles().
struct CutOnDevice {
    BlocksOfLines blocks;
    const float* profiles;
    const ProfileBoundary* boundaries;
    int count;
    float level, added;  // min level above the noise; offset added to all bins
    std::int64_t costs_of_block;
    float* costs;        // [block][boundary][bin]
    std::int32_t* from;  // same shape
    float* places;       // [boundary][block]
    std::uint8_t *is_known, *has_tissue;
};

// One thread block per profile. All boundaries advance through the bins together: once a bin is reached, everything
// that can be above it is known, and it is tried above each bin below it. Shared memory: prefix sums [bins + 1].
__global__ void __launch_bounds__(threads_of_a_range) cut_profiles(CutOnDevice work) {
    extern __shared__ double sums[];
    __shared__ int bright;
    const int bins = work.blocks.bins, tid = static_cast<int>(threadIdx.x);
    const std::int64_t block = blockIdx.x;
    const float* profile = work.profiles + block * bins;
    if (tid == 0) bright = 0;
    __syncthreads();
    int own_bright = 0;
    for (int i = tid; i < bins; i += threads_of_a_range) own_bright += profile[i] > work.level ? 1 : 0;
    if (own_bright > 0) atomicAdd(&bright, own_bright);
    if (tid == 0) {
        double sum = 0;
        for (int i = 0; i < bins; ++i) {
            sums[i] = sum;
            sum += static_cast<double>(profile[i] + work.added);
        }
        sums[bins] = sum;
    }
    __syncthreads();
    const bool has_tissue = rows_of_a_bin * bright >= min_signal_rows;
    if (tid == 0) {
        work.has_tissue[block] = has_tissue ? 1 : 0;
        work.is_known[block] = 0;
    }
    for (int k = tid; k < work.count; k += threads_of_a_range) work.places[k * work.blocks.count() + block] = 0;
    if (!has_tissue) return;
    const ProfileCut cut{sums, bins};
    const int stride = bins + 1;
    float* costs = work.costs + block * work.costs_of_block;
    std::int32_t* from = work.from + block * work.costs_of_block;
    for (int end = 1 + tid; end <= bins; end += threads_of_a_range) {
        for (int k = 0; k < work.count; ++k) {
            costs[k * stride + end] = 2 * ProfileCut::ruled_out;
            from[k * stride + end] = 1;
        }
        if (end < bins) costs[end] = cut.first(work.boundaries[0], end);
    }
    __shared__ float least;  // over complete cuts
    __shared__ int least_at;
    if (tid == 0) {
        least = 2 * ProfileCut::ruled_out;
        least_at = 1;
        for (int k = 1; k < work.count; ++k)
            costs[k * stride + 1] = cut.later(work.boundaries[k], 1, costs[k * stride + 1]);
    }
    __syncthreads();
    for (int begin = 1; begin < bins; ++begin) {
        for (int end = begin + 1 + tid; end <= bins; end += threads_of_a_range) {
            const float piece = cut.piece(begin, end);
            if (end == bins) {
                const float cost = costs[(work.count - 1) * stride + begin] + piece;
                if (cost < least) {
                    least = cost;
                    least_at = begin;
                }
                continue;
            }
            for (int k = 1; k < work.count; ++k) {
                if (!work.boundaries[k].may_follow(begin, end)) continue;
                const float cost = costs[(k - 1) * stride + begin] + piece;
                if (cost < costs[k * stride + end]) {
                    costs[k * stride + end] = cost;
                    from[k * stride + end] = begin;
                }
            }
            if (end != begin + 1) continue;
            for (int k = 1; k < work.count; ++k)
                costs[k * stride + end] = cut.later(work.boundaries[k], end, costs[k * stride + end]);
        }
        __syncthreads();
    }
    if (tid != 0 || least >= ProfileCut::ruled_out / 2) return;
    work.is_known[block] = 1;
    int at = least_at;
    for (int k = work.count - 1; k >= 0; --k) {
        work.places[k * work.blocks.count() + block] = static_cast<float>(at);
        if (k > 0) at = from[k * stride + at];
    }
}

// One warp per line.
__global__ void __launch_bounds__(threads_of_a_range)
    find_signal(LayerVolume volume, float level, double min_bright, std::uint8_t* has_signal) {
    const std::int64_t line = element() / 32;
    if (line >= volume.lines()) return;
    int bright = 0;
    for (int z = static_cast<int>(threadIdx.x) % 32; z < volume.depth; z += 32)
        bright += volume.line(line)[z] > level ? 1 : 0;
    for (int apart = 16; apart > 0; apart /= 2) bright += __shfl_xor_sync(all_lanes, bright, apart);
    if (threadIdx.x % 32 == 0) has_signal[line] = static_cast<double>(bright) >= min_bright ? 1 : 0;
}

// ---- Costs of boundaries.

// A warp transposes 32 lines in shared memory, so that each thread sums one line.
inline constexpr int warps_that_sum = 2;

struct TurnedLines {
    float values[32][33];
    double sums[32][33];
};

// Computes prefix sums in double precision, skipping unrecorded values.
__global__ void __launch_bounds__(32 * warps_that_sum)
    sum_up_lines(const float* intensity, int depth, std::int64_t lines, double* sums, std::uint8_t* is_complete) {
    __shared__ TurnedLines of_warps[warps_that_sum];
    TurnedLines& turned = of_warps[threadIdx.x / 32];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * warps_that_sum + threadIdx.x / 32) * 32;
    double sum = 0;
    bool complete = true;
    for (int z = 0; z < depth; z += 32) {
        for (int i = 0; i < 32; ++i)
            turned.values[i][lane] =
                first + i < lines && z + lane < depth ? intensity[(first + i) * depth + z + lane] : 0.0f;
        __syncwarp();
        for (int i = 0; i < 32; ++i) {
            turned.sums[lane][i] = sum;
            const float value = turned.values[lane][i];
            complete = complete && is_recorded(value);
            if (is_recorded(value)) sum += static_cast<double>(value);
        }
        __syncwarp();
        for (int i = 0; i < 32; ++i) {
            if (first + i < lines && z + lane < depth)
                sums[(first + i) * (depth + 1) + z + lane] = turned.sums[i][lane];
        }
        __syncwarp();
    }
    if (first + lane >= lines) return;
    sums[(first + lane) * (depth + 1) + depth] = sum;
    is_complete[first + lane] = complete ? 1 : 0;
}

// Tables of a volume's A-scans.
struct LineTables {
    const double* sums;               // [line][depth + 1], sum of the finite values above a row
    const std::uint8_t* is_complete;  // [line], all values are finite
};

// Fills costs[boundary][line][lane]. blockIdx.y: the boundary.
__global__ void __launch_bounds__(threads_of_a_range)
    fill_boundary_costs(LayerVolume volume, LineTables tables, PresentRows present, const float* means, float* costs) {
    const std::int64_t i = element(), count = volume.lines() * boundary_lanes, line = i / boundary_lanes;
    if (i >= count) return;
    const int k = static_cast<int>(blockIdx.y), label = static_cast<int>(i % boundary_lanes);
    float cost = label < boundary_labels ? 0 : impossible;
    BoundaryWindow window{};
    if (label < boundary_labels && has_window(volume, present, means, k, line, tables.is_complete[line] != 0, window)) {
        cost = boundary_cost(window, present.edge(k + 1, line), label, tables.sums + line * (volume.depth + 1),
                             volume.depth);
    }
    costs[k * count + i] = cost;
}

// Gaussian means of maps along A-scans or B-scans. `weights`: the centre, then each distance.
struct SmoothMap {
    const float* maps;
    std::int64_t a_scans, b_scans;
    bool along_b;
    int reach;
    const float* weights;
    float* out;

    __device__ void operator()(std::int64_t line, std::int64_t of) const {
        const float* map = maps + of * a_scans * b_scans;
        const int at = static_cast<int>(along_b ? line / a_scans : line % a_scans),
                  last = static_cast<int>(along_b ? b_scans : a_scans) - 1;
        const std::int64_t stride = along_b ? a_scans : 1, first = line - at * stride;
        float sum = weights[0] * map[line];
        for (int d = 1; d <= reach; ++d)
            sum += weights[d] * (map[first + max(at - d, 0) * stride] + map[first + min(at + d, last) * stride]);
        out[of * a_scans * b_scans + line] = sum;
    }
};

// ---- Sweeps.

// The sweep paths along A-scans or B-scans, in both directions. One warp per path; its lanes are labels.
struct SweepPaths {
    int along_a, along_b;  // number of paths; 0: none in this direction
    int a_scans, b_scans;

    struct SweepPath {
        std::int64_t first, stride;
        int count;
    };
    __device__ SweepPath path(int at) const {
        if (at < along_a) return {std::int64_t{at} * a_scans, 1, a_scans};
        return {at - along_a, a_scans, b_scans};
    }
};

inline constexpr int warps_of_paths = 4;

__device__ inline float min_of_lanes(float value) {
    for (int apart = 16; apart > 0; apart /= 2) {
        const float other = __shfl_xor_sync(all_lanes, value, apart);
        value = other < value ? other : value;
    }
    return value;
}

// Returns the accumulated cost after one more A-scan, see SweepPath::next of the CPU. `sum` is that of this lane's
// label.
__device__ inline float next_sum(float sum, float cost, int moved, const SweepStep& step) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int shift = SweepStep::shift(moved);
    float near[7];
    for (int i = 0; i < 7; ++i) {
        const int at = lane + shift + i - 3, last = boundary_labels - 1;
        const float there = __shfl_sync(all_lanes, sum, max(0, min(at, last)));
        near[i] = at < 0 || at > last ? there + beyond_boundary_labels : there;
    }
    const float next = lane < boundary_lanes ? cost + step(near + 3) : HUGE_VALF;
    return next - min_of_lanes(next);
}

// blockIdx.y: the boundary. totals_a, totals_b: [boundary][line][lane].
__global__ void __launch_bounds__(32 * warps_of_paths)
    sweep_paths(SweepPaths paths, const float* costs, const std::int32_t* rows, const float* smoothness,
                float* totals_a, float* totals_b) {
    const int at = static_cast<int>(blockIdx.x * warps_of_paths + threadIdx.x / 32);
    if (at >= paths.along_a + paths.along_b) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool has_label = lane < boundary_lanes;
    const SweepPaths::SweepPath path = paths.path(at);
    const std::int64_t lines = std::int64_t{paths.a_scans} * paths.b_scans;
    const SweepStep step{smoothness[blockIdx.y]};
    const float* cost_of = costs + blockIdx.y * lines * boundary_lanes + lane;
    float* total_of = (at < paths.along_a ? totals_a : totals_b) + blockIdx.y * lines * boundary_lanes + lane;
    rows += blockIdx.y * lines;
    for (int direction = 0; direction < 2; ++direction) {
        const bool is_back = direction == 1;
        const std::int64_t stride = is_back ? -path.stride : path.stride;
        std::int64_t line = is_back ? path.first + (path.count - 1) * path.stride : path.first;
        float sum = 0, cost = has_label ? cost_of[line * boundary_lanes] : 0;
        int row = rows[line], former = row;
        for (int i = 0; i < path.count; ++i) {
            const std::int64_t following = line + (i + 1 < path.count ? stride : 0);
            const float next_cost = has_label ? cost_of[following * boundary_lanes] : 0;
            const float there = is_back && has_label ? total_of[line * boundary_lanes] : 0;
            const int next_row = rows[following];
            sum = i == 0 ? cost : next_sum(sum, cost, row - former, step);
            if (has_label)
                total_of[line * boundary_lanes] = is_back ? SweepStep::both_directions(there, sum, cost) : sum;
            former = row;
            row = next_row;
            cost = next_cost;
            line = following;
        }
    }
}

// Returns the first label with the smallest sum, in all lanes.
__device__ inline int best_label(float sum) {
    const bool is_label = threadIdx.x % 32 < boundary_labels;
    const float least = min_of_lanes(is_label ? sum : HUGE_VALF);
    const unsigned found = __ballot_sync(all_lanes, is_label && sum == least);
    return found != 0 ? __ffs(static_cast<int>(found)) - 1 : 0;
}

// Picks the label with the smallest combined cost of both directions, its margin to the next rival, and whether the
// directions disagree. One warp per line of each boundary, `elements` in total.
__global__ void __launch_bounds__(threads_of_a_range)
    choose_labels(SweepPaths paths, std::int64_t elements, const float* costs, const float* totals_a,
                  const float* totals_b, SweptLines swept) {
    const std::int64_t at = element() / 32;
    if (at >= elements) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t place = at * boundary_lanes + (lane < boundary_lanes ? lane : 0);
    float sum;
    bool is_ambiguous = false;
    if (paths.along_a > 0 && paths.along_b > 0) {
        const float a = totals_a[place], b = totals_b[place];
        sum = SweepStep::crossed(a, b, costs[place]);
        is_ambiguous = SweepStep::are_far_apart(best_label(a), best_label(b));
    } else {
        sum = (paths.along_a > 0 ? totals_a : totals_b)[place];
    }
    const int best = best_label(sum);
    const bool is_next = lane < boundary_labels && SweepStep::is_rival(lane, best);
    const float next = fminf(impossible, min_of_lanes(is_next ? sum : HUGE_VALF));
    const float of_best = __shfl_sync(all_lanes, sum, best);
    if (lane != 0) return;
    swept.labels[at] = best;
    swept.quality[at] = next - of_best;
    swept.is_ambiguous[at] = is_ambiguous ? 1 : 0;
}

// ---- The backend of BoundarySearchOn. All boundaries are processed at once, because one alone would not occupy a GPU.

class LayersOnCuda : public CudaExecutor {
  public:
    LayersOnCuda(int device, const std::array<std::int64_t, 3>& size)
        : CudaExecutor(device), depth_(size[0]), lines_(size[1] * size[2]) {}

    // Copies a volume that is in host memory.
    const float* volume(const float* intensity) {
        cudaPointerAttributes facts{};
        checked(cudaPointerGetAttributes(&facts, intensity), "query the memory type");
        if (facts.type == cudaMemoryTypeDevice) return intensity;
        copy_ = Array<float>(std::span<const float>(intensity, index(lines_ * depth_)));
        return copy_.data();
    }

    void begin(const LayerVolume& volume) {
        sums_ = Array<double>(lines_ * (depth_ + 1));
        is_complete_ = Array<std::uint8_t>(lines_);
        constexpr std::int64_t together = 32 * warps_that_sum;
        sum_up_lines<<<static_cast<unsigned>((lines_ + together - 1) / together), together, 0, stream()>>>(
            volume.intensity, volume.depth, lines_, sums_.data(), is_complete_.data());
        checked_launch("sum A-scans up");
    }

    void average_blocks(const LayerVolume& volume, const BlocksOfLines& blocks, float* profiles) {
        cuda::average_blocks<<<static_cast<unsigned>(blocks.count()), threads_of_a_range, 0, stream()>>>(volume, blocks,
                                                                                                         profiles);
        checked_launch("average A-scans");
    }

    BinLevels levels_of(const float* profiles, std::int64_t count, double share) {
        ValueAtRank value_at;
        const RankedNumbers bins{profiles, count, 1, false};
        const auto rank = [&](std::int64_t all) { return std::lround(share * static_cast<double>(all - 1)); };
        const auto last = [](std::int64_t all) { return all - 1; };
        return {value_at(bins, rank, stream()), value_at(bins, last, stream())};
    }

    void cut(const BlockCutArguments& of) {
        const std::int64_t blocks = of.blocks.count(), boundaries = std::ssize(of.boundaries),
                           each = boundaries * (of.blocks.bins + 1);
        const Array<ProfileBoundary> wanted(of.boundaries);
        const Array<float> costs(each * blocks);
        const Array<std::int32_t> from(each * blocks);
        const CutOnDevice work{of.blocks,   of.profiles, wanted.data(), static_cast<int>(boundaries),
                               of.level,    of.added,    each,          costs.data(),
                               from.data(), of.places,   of.is_known,   of.has_tissue};
        const std::size_t bytes = index(of.blocks.bins + 1) * sizeof(double);
        constexpr std::size_t without_opt_in = 48 << 10;  // CUDA's limit for kernels that do not request more
        if (bytes > without_opt_in)
            checked(cudaFuncSetAttribute(cut_profiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(bytes)),
                    "request shared memory");
        cut_profiles<<<static_cast<unsigned>(blocks), threads_of_a_range, bytes, stream()>>>(work);
        checked_launch("cut profiles");
        wait("cut profiles");  // before the local arrays are destroyed
    }

    void find_signal(const LayerVolume& volume, const SignalLevels& levels, std::uint8_t* has_signal) {
        cuda::find_signal<<<blocks_for(lines_ * 32), threads_of_a_range, 0, stream()>>>(volume, levels.bright,
                                                                                        levels.min_bright, has_signal);
        checked_launch("detect signal above the noise");
    }

    void smooth(Array<float>& maps, std::int64_t count, std::int64_t a_scans, std::int64_t b_scans,
                const Array<float>& weights) {
        if (smoothed_.count() < maps.count()) smoothed_ = Array<float>(maps.count());
        const int reach = static_cast<int>(weights.count()) - 1;
        for (const bool along_b : {false, true}) {
            if ((along_b ? b_scans : a_scans) < 2) continue;
            for_each(a_scans * b_scans, count,
                     SmoothMap{maps.data(), a_scans, b_scans, along_b, reach, weights.data(), smoothed_.data()},
                     "smooth maps");
            std::swap(maps, smoothed_);
        }
    }

    void fill_costs(const LayerVolume& volume, const PresentRows& present, const float* means, float* costs) {
        const dim3 blocks(blocks_for(lines_ * boundary_lanes), static_cast<unsigned>(present.boundaries));
        const LineTables tables{sums_.data(), is_complete_.data()};
        fill_boundary_costs<<<blocks, threads_of_a_range, 0, stream()>>>(volume, tables, present, means, costs);
        checked_launch("fill costs");
    }

    template <class Done>
    void sweep(const LayerVolume& volume, const PresentRows& present, const float* smoothness, const float* costs,
               const SweptLines& swept, const Done& done) {
        const bool has_b = volume.b_scans > 1, has_a = volume.a_scans > 1 || !has_b;
        const SweepPaths paths{has_a ? volume.b_scans : 0, has_b ? volume.a_scans : 0, volume.a_scans, volume.b_scans};
        const std::int64_t elements = lines_ * present.boundaries;
        if (totals_a_.count() != elements * boundary_lanes) {
            totals_a_ = Array<float>(elements * boundary_lanes);
            totals_b_ = Array<float>(elements * boundary_lanes);
        }
        const int count = paths.along_a + paths.along_b;
        const dim3 blocks(static_cast<unsigned>((count + warps_of_paths - 1) / warps_of_paths),
                          static_cast<unsigned>(present.boundaries));
        sweep_paths<<<blocks, 32 * warps_of_paths, 0, stream()>>>(paths, costs, present.rows, smoothness,
                                                                  totals_a_.data(), totals_b_.data());
        checked_launch("sweep costs");
        choose_labels<<<blocks_for(elements * 32), threads_of_a_range, 0, stream()>>>(
            paths, elements, costs, totals_a_.data(), totals_b_.data(), swept);
        checked_launch("choose labels");
        done(present.boundaries);
    }

  private:
    std::int64_t depth_, lines_;
    Array<float> copy_;  // of a volume in host memory
    Array<double> sums_;
    Array<std::uint8_t> is_complete_;
    Array<float> smoothed_, totals_a_, totals_b_;
};

void require_length(const std::array<std::int64_t, 3>& size) {
    for (const std::int64_t axis : size) {
        if (axis > std::numeric_limits<int>::max() / boundary_lanes)
            throw Error(ErrorCode::device, "the volume is too long to find layers on a GPU", "cuda");
    }
}

}  // namespace

std::unique_ptr<BoundarySearch> boundary_search(const float* intensity, const SurfaceTables& tables,
                                                const BackendChoice& choice) {
    require_length(tables.size);
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    const std::int64_t boundaries = std::ssize(tables.wanted), lines = tables.size[1] * tables.size[2];
    const std::int64_t of_line =
        12 * tables.size[0] + boundaries * (3 * boundary_lanes + 12) * 4;  // bytes of rows, labels, maps
    require_free(lines * of_line, "this search for surfaces",
                 "search a part of the volume, close what else uses the GPU, or choose `backend` cpu");
    return std::make_unique<BoundarySearchOn<LayersOnCuda>>(intensity, tables, device, tables.size);
}

}  // namespace echolux::cuda
