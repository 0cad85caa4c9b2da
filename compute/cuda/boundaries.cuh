// Kernels for boundaries between layers (docs/layers.md). They sum in the CPU's order and without fused multiply-adds,
// so that the bits agree (boundaries.cu is compiled accordingly). Lines are [b_scan][a_scan]; maps have one float per
// line.
#pragma once

#include <cmath>
#include <cstdint>

#include "compute/cuda/launch.h"
#include "compute/steps/layers.h"

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

__global__ void __launch_bounds__(32 * warps_that_sum)
    // Computes prefix sums in double precision, skipping unrecorded values.
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
struct Ways {
    int along_a, along_b;  // number of paths; 0: none in this direction
    int a_scans, b_scans;

    struct Way {
        std::int64_t first, stride;
        int count;
    };
    __device__ Way way(int at) const {
        if (at < along_a) return {std::int64_t{at} * a_scans, 1, a_scans};
        return {at - along_a, a_scans, b_scans};
    }
};

inline constexpr int warps_of_ways = 4;
inline constexpr unsigned all_lanes = 0xffffffffu;

__device__ inline float least_of_lanes(float value) {
    for (int apart = 16; apart > 0; apart /= 2) {
        const float other = __shfl_xor_sync(all_lanes, value, apart);
        value = other < value ? other : value;
    }
    return value;
}

// Returns the accumulated cost after one more A-scan, see Way::next of the CPU. `sum` is that of this lane's label.
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
    return next - least_of_lanes(next);
}

// blockIdx.y: the boundary. totals_a, totals_b: [boundary][line][lane].
__global__ void __launch_bounds__(32 * warps_of_ways)
    sweep_ways(Ways ways, const float* costs, const std::int32_t* rows, const float* smoothness, float* totals_a,
               float* totals_b) {
    const int at = static_cast<int>(blockIdx.x * warps_of_ways + threadIdx.x / 32);
    if (at >= ways.along_a + ways.along_b) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool has_label = lane < boundary_lanes;
    const Ways::Way way = ways.way(at);
    const std::int64_t lines = std::int64_t{ways.a_scans} * ways.b_scans;
    const SweepStep step{smoothness[blockIdx.y]};
    const float* cost_of = costs + blockIdx.y * lines * boundary_lanes + lane;
    float* total_of = (at < ways.along_a ? totals_a : totals_b) + blockIdx.y * lines * boundary_lanes + lane;
    rows += blockIdx.y * lines;
    for (int direction = 0; direction < 2; ++direction) {
        const bool is_back = direction == 1;
        const std::int64_t stride = is_back ? -way.stride : way.stride;
        std::int64_t line = is_back ? way.first + (way.count - 1) * way.stride : way.first;
        float sum = 0, cost = has_label ? cost_of[line * boundary_lanes] : 0;
        int row = rows[line], former = row;
        for (int i = 0; i < way.count; ++i) {
            const std::int64_t following = line + (i + 1 < way.count ? stride : 0);
            const float next_cost = has_label ? cost_of[following * boundary_lanes] : 0;
            const float there = is_back && has_label ? total_of[line * boundary_lanes] : 0;
            const int next_row = rows[following];
            sum = i == 0 ? cost : next_sum(sum, cost, row - former, step);
            if (has_label) total_of[line * boundary_lanes] = is_back ? SweepStep::both_ways(there, sum, cost) : sum;
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
    const float least = least_of_lanes(is_label ? sum : HUGE_VALF);
    const unsigned found = __ballot_sync(all_lanes, is_label && sum == least);
    return found != 0 ? __ffs(static_cast<int>(found)) - 1 : 0;
}

// Output of a sweep.
struct SweptLines {
    std::int32_t* labels;  // all arrays: [boundary][line]
    float* quality;
    std::uint8_t* is_ambiguous;
};

// One warp per line of each boundary, `elements` in total.
__global__ void __launch_bounds__(threads_of_a_range)
    // Picks the label with the smallest combined cost of both directions, its margin to the next rival, and whether the
    // directions disagree.
    choose_labels(Ways ways, std::int64_t elements, const float* costs, const float* totals_a, const float* totals_b,
                  SweptLines swept) {
    const std::int64_t at = element() / 32;
    if (at >= elements) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t place = at * boundary_lanes + (lane < boundary_lanes ? lane : 0);
    float sum;
    bool is_ambiguous = false;
    if (ways.along_a > 0 && ways.along_b > 0) {
        const float a = totals_a[place], b = totals_b[place];
        sum = SweepStep::crossed(a, b, costs[place]);
        is_ambiguous = SweepStep::are_far_apart(best_label(a), best_label(b));
    } else {
        sum = (ways.along_a > 0 ? totals_a : totals_b)[place];
    }
    const int best = best_label(sum);
    const bool is_next = lane < boundary_labels && SweepStep::is_rival(lane, best);
    const float next = fminf(impossible, least_of_lanes(is_next ? sum : HUGE_VALF));
    const float of_best = __shfl_sync(all_lanes, sum, best);
    if (lane != 0) return;
    swept.labels[at] = best;
    swept.quality[at] = next - of_best;
    swept.is_ambiguous[at] = is_ambiguous ? 1 : 0;
}

}  // namespace echolux::cuda
