// Kernels for boundaries between layers (docs/layers.md). They sum in the CPU's order and without fused multiply-adds,
// so that the bits agree (boundaries.cu is compiled accordingly). Lines are [b_scan][a_scan]; maps have one float per
// line.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/steps/layers.h"
#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// A volume and tables derived from it, in GPU memory.
struct LayerVolume {
    int depth, a_scans, b_scans;
    const float* intensity;           // [line][row]
    const std::uint8_t* has_signal;   // [line]
    const double* sums;               // [line][depth + 1], sum of the finite values above a row
    const std::uint8_t* is_complete;  // [line], all values are finite

    __host__ __device__ std::int64_t lines() const { return std::int64_t{a_scans} * b_scans; }
    __device__ const float* line(std::int64_t at) const { return intensity + at * depth; }
};

// Current rows of the boundaries.
struct PresentRows {
    const std::int32_t* rows;  // [boundary][line]
    int boundaries, depth;
    std::int64_t lines;

    __device__ LayerEdges of(std::int64_t line) const { return {rows + line, lines, boundaries, depth}; }
    __device__ int edge(int at, std::int64_t line) const { return of(line)(at); }
};

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

// Computes the sum and number of rows inside each layer. blockIdx.y: the layer.
__global__ void __launch_bounds__(threads_of_a_range)
    sum_layers(LayerVolume volume, PresentRows present, float* sums, float* counts) {
    const std::int64_t line = element();
    if (line >= volume.lines()) return;
    const int layer = static_cast<int>(blockIdx.y);
    double sum = 0;
    int count = 0;
    if (volume.has_signal[line] != 0) {
        const LayerInside inside =
            LayerInside::of(present.edge(layer, line), present.edge(layer + 1, line), volume.depth);
        const float* values = volume.line(line);
        for (int z = inside.begin; z < inside.end; ++z) {
            if (!is_recorded(values[z])) continue;
            sum += static_cast<double>(values[z]);
            ++count;
        }
    }
    sums[layer * volume.lines() + line] = static_cast<float>(sum);
    counts[layer * volume.lines() + line] = static_cast<float>(count);
}

// Gaussian means of maps along A-scans or B-scans. `weights`: the centre, then each distance. blockIdx.y: the map.
__global__ void __launch_bounds__(threads_of_a_range)
    smooth_maps(const float* maps, int a_scans, int b_scans, bool along_b, int reach, const float* weights,
                float* out) {
    const std::int64_t line = element(), lines = std::int64_t{a_scans} * b_scans;
    if (line >= lines) return;
    const float* map = maps + blockIdx.y * lines;
    const int at = static_cast<int>(along_b ? line / a_scans : line % a_scans),
              last = (along_b ? b_scans : a_scans) - 1;
    const std::int64_t stride = along_b ? a_scans : 1, first = line - at * stride;
    float sum = weights[0] * map[line];
    for (int d = 1; d <= reach; ++d)
        sum += weights[d] * (map[first + max(at - d, 0) * stride] + map[first + min(at + d, last) * stride]);
    out[blockIdx.y * lines + line] = sum;
}

// Divides sums by counts in place. The limit applies to the result and is its default.
__global__ void __launch_bounds__(threads_of_a_range)
    divide_by_counts(std::int64_t elements, const float* counts, float least, float* sums) {
    const std::int64_t i = element();
    if (i >= elements) return;
    const float mean = counts[i] > 0 ? sums[i] / counts[i] : least;
    sums[i] = mean < least ? least : mean;
}

// Returns the cost of boundary `k` at its label `label` in a line. `means`: [layer][line].
__device__ inline float cost_of_boundary(const LayerVolume& volume, const PresentRows& present, const float* means,
                                         int k, std::int64_t line, int label) {
    if (label >= boundary_labels) return impossible;
    if (volume.has_signal[line] == 0) return 0;
    const int at = present.edge(k + 1, line);
    BoundaryWindow window =
        BoundaryWindow::between(at, present.edge(k, line), present.edge(k + 2, line), means[k * present.lines + line],
                                means[(k + 1) * present.lines + line]);
    if (volume.is_complete[line] == 0 && !keeps_recorded(window, at, volume.line(line))) return 0;
    return boundary_cost(window, at, label, volume.sums + line * (volume.depth + 1), volume.depth);
}

// Fills costs[boundary][line][lane]. blockIdx.y: the boundary.
__global__ void __launch_bounds__(threads_of_a_range)
    fill_boundary_costs(LayerVolume volume, PresentRows present, const float* means, float* costs) {
    const std::int64_t i = element(), count = volume.lines() * boundary_lanes;
    if (i >= count) return;
    const int k = static_cast<int>(blockIdx.y);
    costs[k * count + i] =
        cost_of_boundary(volume, present, means, k, i / boundary_lanes, static_cast<int>(i % boundary_lanes));
}

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
inline constexpr unsigned all_lanes = 0xffffffffu;

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

// Output of a sweep.
struct SweptLines {
    std::int32_t* labels;  // all arrays: [boundary][line]
    float* quality;
    std::uint8_t* is_ambiguous;
};

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

// ---- Costs and sweeps of boundaries on a GPU. All boundaries are processed at once, because one alone would not
// occupy it.

template <class T>
DeviceBuffer buffer_of(std::int64_t elements) {
    return DeviceBuffer(elements * static_cast<std::int64_t>(sizeof(T)));
}

// Costs and sweeps of boundaries in one volume, around their current rows.
class Sweeps {
  public:
    explicit Sweeps(const std::array<std::int64_t, 3>& size, const std::vector<float>& mean_weights)
        : size_(size), lines_(size[1] * size[2]), reach_(static_cast<int>(mean_weights.size()) - 1),
          weights_(uploaded(mean_weights)), sums_(buffer_of<double>(lines_ * (size_[0] + 1))),
          is_complete_(buffer_of<std::uint8_t>(lines_)) {}

    void sum_up(const float* intensity) {
        constexpr std::int64_t together = 32 * warps_that_sum;
        sum_up_lines<<<static_cast<unsigned>((lines_ + together - 1) / together), 32 * warps_that_sum, 0, stream_>>>(
            intensity, static_cast<int>(size_[0]), lines_, sums_.as<double>(), is_complete_.as<std::uint8_t>());
        checked_launch("sum A-scans up");
    }

    void reserve(std::span<const SweepStep> steps) {
        const std::int64_t boundaries = std::ssize(steps);
        const auto room = [&](DeviceBuffer& buffer, std::int64_t elements, std::size_t each) {
            buffer.reserve(elements * lines_ * static_cast<std::int64_t>(each));
        };
        room(rows_, boundaries, sizeof(std::int32_t));
        smoothness_.reserve(boundaries * static_cast<std::int64_t>(sizeof(float)));
        for (DeviceBuffer* maps : {&means_, &counts_, &smoothed_}) room(*maps, boundaries + 1, sizeof(float));
        for (DeviceBuffer* labels : {&costs_, &totals_a_, &totals_b_})
            room(*labels, boundaries * boundary_lanes, sizeof(float));
        room(labels_, boundaries, sizeof(std::int32_t));
        room(quality_, boundaries, sizeof(float));
        room(is_ambiguous_, boundaries, sizeof(std::uint8_t));
        std::vector<float> smoothness;
        for (const SweepStep& step : steps) smoothness.push_back(step.smoothness);
        upload(smoothness.data(), static_cast<std::int64_t>(smoothness.size() * sizeof(float)), smoothness_.data());
        boundaries_ = static_cast<int>(boundaries);
    }

    // Sweeps around the current rows.
    void run(const float* intensity, const std::uint8_t* has_signal, float min_mean) {
        const LayerVolume of = volume(intensity, has_signal);
        find_means(of, min_mean);
        fill_boundary_costs<<<dim3(blocks_for(lines_ * boundary_lanes), static_cast<unsigned>(boundaries_)),
                              threads_of_a_range, 0, stream_>>>(of, present(), means_.as<float>(), costs_.as<float>());
        checked_launch("fill costs");
        sweep();
    }

    LayerVolume volume(const float* intensity, const std::uint8_t* has_signal) const {
        return {static_cast<int>(size_[0]),
                static_cast<int>(size_[1]),
                static_cast<int>(size_[2]),
                intensity,
                has_signal,
                sums_.as<double>(),
                is_complete_.as<std::uint8_t>()};
    }
    PresentRows present() const { return {rows_.as<std::int32_t>(), boundaries_, static_cast<int>(size_[0]), lines_}; }

    // Replaces maps by their Gaussian means.
    void smooth(DeviceBuffer& maps, std::int64_t count, const DeviceBuffer& weights) {
        smoothed_.reserve(maps.bytes());
        const dim3 blocks(blocks_for(lines_), static_cast<unsigned>(count));
        const int reach = static_cast<int>(weights.bytes() / static_cast<std::int64_t>(sizeof(float))) - 1;
        for (const bool along_b : {false, true}) {
            if (size_[along_b ? 2 : 1] < 2) continue;
            smooth_maps<<<blocks, threads_of_a_range, 0, stream_>>>(maps.as<float>(), static_cast<int>(size_[1]),
                                                                    static_cast<int>(size_[2]), along_b, reach,
                                                                    weights.as<float>(), smoothed_.as<float>());
            checked_launch("smooth maps");
            std::swap(maps, smoothed_);
        }
    }

    // Results: [boundary][line].
    const DeviceBuffer& labels() const { return labels_; }
    const DeviceBuffer& quality() const { return quality_; }
    const DeviceBuffer& is_ambiguous() const { return is_ambiguous_; }
    const DeviceBuffer& rows() const { return rows_; }
    cudaStream_t stream() const { return stream_; }

  private:
    // Computes the mean brightness of each layer around each A-scan.
    void find_means(const LayerVolume& of, float min_mean) {
        const dim3 maps(blocks_for(lines_), static_cast<unsigned>(boundaries_ + 1));
        sum_layers<<<maps, threads_of_a_range, 0, stream_>>>(of, present(), means_.as<float>(), counts_.as<float>());
        checked_launch("sum layers");
        for (DeviceBuffer* maps_of : {&means_, &counts_}) smooth(*maps_of, boundaries_ + 1, weights_);
        const std::int64_t elements = lines_ * (boundaries_ + 1);
        divide_by_counts<<<blocks_for(elements), threads_of_a_range, 0, stream_>>>(elements, counts_.as<float>(),
                                                                                   min_mean, means_.as<float>());
        checked_launch("average layers");
    }

    void sweep() {
        const bool has_a = size_[1] > 1, has_b = size_[2] > 1;
        const SweepPaths paths{has_a || !has_b ? static_cast<int>(size_[2]) : 0, has_b ? static_cast<int>(size_[1]) : 0,
                               static_cast<int>(size_[1]), static_cast<int>(size_[2])};
        const int count = paths.along_a + paths.along_b;
        const dim3 blocks(static_cast<unsigned>((count + warps_of_paths - 1) / warps_of_paths),
                          static_cast<unsigned>(boundaries_));
        sweep_paths<<<blocks, 32 * warps_of_paths, 0, stream_>>>(paths, costs_.as<float>(), rows_.as<std::int32_t>(),
                                                                 smoothness_.as<float>(), totals_a_.as<float>(),
                                                                 totals_b_.as<float>());
        checked_launch("sweep costs");
        const std::int64_t elements = lines_ * boundaries_;
        const SweptLines lines{labels_.as<std::int32_t>(), quality_.as<float>(), is_ambiguous_.as<std::uint8_t>()};
        choose_labels<<<blocks_for(elements * 32), threads_of_a_range, 0, stream_>>>(
            paths, elements, costs_.as<float>(), totals_a_.as<float>(), totals_b_.as<float>(), lines);
        checked_launch("choose labels");
    }

    std::array<std::int64_t, 3> size_;
    std::int64_t lines_;
    int reach_, boundaries_ = 0;
    Stream stream_;
    DeviceBuffer weights_;
    DeviceBuffer sums_, is_complete_;               // tables of A-scans
    DeviceBuffer rows_, smoothness_;                // settings of boundaries
    DeviceBuffer means_, counts_, smoothed_;        // maps of layers
    DeviceBuffer costs_, totals_a_, totals_b_;      // costs of labels
    DeviceBuffer labels_, quality_, is_ambiguous_;  // results
};

// Copies to the host, as many elements as `to` holds.
template <class T>
void fetch(std::vector<T>& to, const DeviceBuffer& from, std::int64_t first, cudaStream_t stream) {
    checked(cudaMemcpyAsync(to.data(), from.as<T>() + first, to.size() * sizeof(T), cudaMemcpyDeviceToHost, stream),
            "copy boundaries");
    checked(cudaStreamSynchronize(stream), "find boundaries");
}

// ---- Kernels of the complete surface search except its sweeps: mean profiles of blocks, their cuts, block maps, and
// postprocessing of boundaries.

// Layout of the blocks of A-scans.
struct BlocksOfLines {
    BlockAxis along_a, along_b;
    int bins;

    __host__ __device__ std::int64_t count() const { return along_a.count * along_b.count; }
};

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

// Counts the positive bins by their upper bits or, among those with given upper bits, by their lower bits, and computes
// their max. The bits of positive numbers have the same order.
__global__ void __launch_bounds__(threads_of_a_range)
    count_bits(const float* values, std::int64_t count, bool lower, unsigned upper_bits, unsigned* counts,
               unsigned* greatest) {
    const std::int64_t i = element();
    if (i >= count || !(values[i] > 0)) return;
    const unsigned bits = __float_as_uint(values[i]);
    atomicMax(greatest, bits);
    if (!lower)
        atomicAdd(counts + (bits >> 16), 1u);
    else if (bits >> 16 == upper_bits)
        atomicAdd(counts + (bits & 0xffffu), 1u);
}

// Arguments of cut_profiles().
struct CutOfBlocks {
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
__global__ void __launch_bounds__(threads_of_a_range) cut_profiles(CutOfBlocks work) {
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

// Block maps, [boundary][block]. blockIdx.y: the boundary.
__global__ void __launch_bounds__(threads_of_a_range)
    without_outliers_of(const float* maps, BlocksOfLines blocks, std::int64_t reach, double limit, float* out) {
    const std::int64_t i = element();
    if (i >= blocks.count()) return;
    const RobustSurface surface{maps + blockIdx.y * blocks.count(), blocks.along_a.count, blocks.along_b.count, reach,
                                limit};
    out[blockIdx.y * blocks.count() + i] = surface.without_outlier(i / blocks.along_a.count, i % blocks.along_a.count);
}

__global__ void __launch_bounds__(threads_of_a_range)
    medians_of_neighbours(const float* maps, BlocksOfLines blocks, float* out) {
    const std::int64_t i = element();
    if (i >= blocks.count()) return;
    out[blockIdx.y * blocks.count() + i] =
        MedianOfNeighbours{}(maps + blockIdx.y * blocks.count(), blocks.along_a.count, blocks.along_b.count,
                             i / blocks.along_a.count, i % blocks.along_a.count);
}

// Interpolates the rows of boundaries at each A-scan, [boundary][line].
__global__ void __launch_bounds__(threads_of_a_range)
    spread_blocks(const float* maps, BlocksOfLines blocks, std::int32_t* rows) {
    const std::int64_t line = element(), lines = blocks.along_a.size * blocks.along_b.size;
    if (line >= lines) return;
    const BlockAxis::Share a = blocks.along_a.share(line % blocks.along_a.size),
                           b = blocks.along_b.share(line / blocks.along_a.size);
    const float place = BetweenBlocks{}(maps + blockIdx.y * blocks.count(), blocks.along_a.count, a, b);
    rows[blockIdx.y * lines + line] = whole_row(place);
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

// All results of boundaries, [boundary][line].
struct SurfaceMaps {
    std::int32_t* rows;
    float *places, *quality;
    Reason* reasons;
    const BoundaryRequest* wanted;
    int boundaries;
    std::int64_t lines;

    __device__ LineOfSurfaces of(std::int64_t line) const {
        return {rows + line, places + line, quality + line, reasons + line, lines, wanted, boundaries};
    }
};

__global__ void __launch_bounds__(threads_of_a_range) order_boundaries(SurfaceMaps maps, unsigned long long* moved) {
    const std::int64_t line = element();
    const int here = line < maps.lines ? maps.of(line).order_rows() : 0;
    if (moved != nullptr && here > 0) atomicAdd(moved, static_cast<unsigned long long>(here));
}

// Takes the result of a sweep. `at_ends` counts positions at the end of their candidates.
__global__ void __launch_bounds__(threads_of_a_range)
    take_labels(LayerVolume volume, SurfaceMaps maps, const std::int32_t* labels, const std::uint8_t* is_ambiguous,
                unsigned long long* at_ends) {
    const std::int64_t i = element();
    bool is_at_end = false;
    if (i < maps.lines * maps.boundaries) {
        const SweepResult place{labels[i], is_ambiguous[i], volume.has_signal[i % maps.lines]};
        is_at_end = place.is_at_end();
        maps.rows[i] += place.rows_down();
        maps.reasons[i] = place.reason();
    }
    const unsigned here = __ballot_sync(all_lanes, is_at_end);
    if (here != 0 && threadIdx.x % 32 == 0) atomicAdd(at_ends, static_cast<unsigned long long>(__popc(here)));
}

// sides[above, below][boundary][line]. blockIdx.y: the boundary.
__global__ void __launch_bounds__(threads_of_a_range)
    find_sides(LayerVolume volume, PresentRows present, float* sides, std::uint8_t* is_measured) {
    const std::int64_t line = element();
    if (line >= volume.lines()) return;
    const int k = static_cast<int>(blockIdx.y);
    const std::int64_t at = k * volume.lines() + line;
    BoundarySides found;
    if (volume.has_signal[line] != 0) found = BoundarySides::of(present.of(line), k, volume.line(line));
    sides[at] = found.above;
    sides[present.boundaries * volume.lines() + at] = found.below;
    is_measured[at] = found.is_measured ? 1 : 0;
}

__global__ void __launch_bounds__(threads_of_a_range)
    mark_doubtful(LayerVolume volume, SurfaceMaps maps, const float* sides, const std::uint8_t* is_measured,
                  float margin, double floor) {
    const std::int64_t line = element();
    if (line >= maps.lines) return;
    const LineOfSurfaces of_line = maps.of(line);
    const float *above = sides + line, *below = above + maps.boundaries * maps.lines;
    for (int k = 0; k < maps.boundaries; ++k) {
        const std::int64_t at = k * maps.lines;
        of_line.mark_weak(k, is_measured[line + at] != 0 ? BoundarySides::contrast_db(above[at], below[at], margin)
                                                         : static_cast<float>(NAN));
    }
    of_line.mark_mixed(volume.line(line), volume.depth, floor);
    for (int k = 0; k < maps.boundaries; ++k) of_line.mark_missing(k, volume.line(line), volume.depth);
}

// Prepares rows for smoothing where there is signal, and the corresponding weights: maps[boundary][line], the last map
// holds the weights.
__global__ void __launch_bounds__(threads_of_a_range) begin_places(LayerVolume volume, SurfaceMaps maps, float* sums) {
    const std::int64_t line = element();
    if (line >= maps.lines) return;
    const float weight = volume.has_signal[line] != 0 ? 1 : 0;
    for (int k = 0; k < maps.boundaries; ++k) {
        const auto row = static_cast<float>(maps.rows[k * maps.lines + line]);
        maps.places[k * maps.lines + line] = row;
        sums[k * maps.lines + line] = weight > 0 ? row * weight : 0;
    }
    sums[maps.boundaries * maps.lines + line] = weight;
}

__global__ void __launch_bounds__(threads_of_a_range) end_places(SurfaceMaps maps, const float* sums) {
    const std::int64_t line = element();
    if (line >= maps.lines) return;
    const float weight = sums[maps.boundaries * maps.lines + line];
    for (int k = 0; k < maps.boundaries; ++k) {
        if (weight > min_mean_weight) maps.places[k * maps.lines + line] = sums[k * maps.lines + line] / weight;
    }
    maps.of(line).order_places();
}

// Sums qualities within B-scans, then over them: [boundary][b_scan], [boundary].
__global__ void __launch_bounds__(threads_of_a_range)
    add_quality(SurfaceMaps maps, int a_scans, int b_scans, double* of_b_scans) {
    const std::int64_t i = element();
    if (i >= std::int64_t{maps.boundaries} * b_scans) return;
    double sum = 0;
    for (int a = 0; a < a_scans; ++a) sum += static_cast<double>(maps.quality[i * a_scans + a]);
    of_b_scans[i] = sum;
}

__global__ void add_b_scans(const double* of_b_scans, int boundaries, int b_scans, double* sureness) {
    const int k = static_cast<int>(threadIdx.x);
    if (k >= boundaries) return;
    double sum = 0;
    for (int b = 0; b < b_scans; ++b) sum += of_b_scans[k * b_scans + b];
    sureness[k] = sum;
}

__global__ void __launch_bounds__(threads_of_a_range)
    finish_surfaces(LayerVolume volume, SurfaceMaps maps, const double* sureness) {
    const std::int64_t line = element();
    if (line >= maps.lines) return;
    maps.of(line).mark_doubled(sureness);
    maps.of(line).finish(volume.has_signal[line] != 0, volume.depth);
}

}  // namespace echolux::cuda
