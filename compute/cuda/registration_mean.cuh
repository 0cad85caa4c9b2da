// Kernels that add registered B-scans at their position (docs/tissue.md): coefficients of cubic B-splines in depth and
// along A-scans, and sums of their values at shifted positions. Planes are [row][a_scan][depth].
#pragma once

#include <cstdint>

#include "compute/cuda/launch.h"
#include "compute/cuda/registration_features.cuh"
#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// Copies the B-scans of `landing`, one after another. NaN becomes 0.
__global__ void __launch_bounds__(threads_of_a_range)
    take_landing(FeaturePlanes planes, const LandingRow* landing, const float* power, float* values) {
    const PlaneSample sample(planes);
    if (!sample.is_in(planes)) return;
    const float value =
        power[(std::int64_t{landing[sample.row].row} * planes.a_scans + sample.a) * planes.depth + sample.z];
    values[sample.at()] = isfinite(value) ? value : 0;
}

inline constexpr int warps_of_lines = 2;

// Filters in depth, in place. A warp transposes 32 A-scans in shared memory, so that each thread processes one.
__global__ void __launch_bounds__(32 * warps_of_lines) filter_lines(float* values, int depth, std::int64_t lines) {
    __shared__ float of_warps[warps_of_lines][32][33];
    float(&tile)[32][33] = of_warps[threadIdx.x / 32];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * warps_of_lines + threadIdx.x / 32) * 32;
    const auto exchange = [&](int z0, bool to_memory) {
        __syncwarp();
        for (int i = 0; i < 32; ++i) {
            if (first + i >= lines || z0 + lane >= depth) continue;
            float& value = values[(first + i) * depth + z0 + lane];
            if (to_memory)
                value = tile[i][lane];
            else
                tile[i][lane] = value;
        }
        __syncwarp();
    };
    double last = 0;
    float before = 0, now = 0;
    for (int z0 = 0; z0 < depth; z0 += 32) {
        exchange(z0, false);
        if (z0 == 0) last = SplineFilter::first([&](std::int64_t at) { return tile[lane][at]; }, depth);
        for (int i = 0; i < min(32, depth - z0); ++i) {
            if (z0 + i > 0) last = SplineFilter::there(last, tile[lane][i]);
            before = now;
            now = static_cast<float>(last);
            tile[lane][i] = now;
        }
        exchange(z0, true);
    }
    for (int z0 = (depth - 1) / 32 * 32; z0 >= 0; z0 -= 32) {
        exchange(z0, false);
        for (int i = min(32, depth - z0) - 1; i >= 0; --i) {
            last = z0 + i == depth - 1 ? SplineFilter::turn(last, before) : SplineFilter::back(last, tile[lane][i]);
            tile[lane][i] = SplineFilter::coefficient(last);
        }
        exchange(z0, true);
    }
}

// Filters along A-scans, in place, with one thread per depth of each B-scan. Loads several values together to hide
// latency.
__global__ void __launch_bounds__(threads_of_a_range) filter_a_scans(FeaturePlanes planes, float* values) {
    constexpr int together = 8;
    const std::int64_t i = element();
    if (i >= planes.rows * planes.depth) return;
    float* line = values + i / planes.depth * planes.of_row() + i % planes.depth;
    const auto at = [&](std::int64_t a) -> float& { return line[a * planes.depth]; };
    const int last_a = planes.a_scans - 1;
    double last = SplineFilter::first(at, planes.a_scans);
    float before = 0, now = static_cast<float>(last);  // the last two
    at(0) = now;
    for (int first = 1; first <= last_a; first += together) {
        float some[together];
#pragma unroll
        for (int k = 0; k < together; ++k) some[k] = first + k <= last_a ? at(first + k) : 0;
#pragma unroll
        for (int k = 0; k < together; ++k) {
            if (first + k > last_a) continue;
            last = SplineFilter::there(last, some[k]);
            before = now;
            now = static_cast<float>(last);
            at(first + k) = now;
        }
    }
    last = SplineFilter::turn(last, before);
    at(last_a) = SplineFilter::coefficient(last);
    for (int first = last_a - 1; first >= 0; first -= together) {
        float some[together];
#pragma unroll
        for (int k = 0; k < together; ++k) some[k] = first - k >= 0 ? at(first - k) : 0;
#pragma unroll
        for (int k = 0; k < together; ++k) {
            if (first - k < 0) continue;
            last = SplineFilter::back(last, some[k]);
            at(first - k) = SplineFilter::coefficient(last);
        }
    }
}

// Returns whether a contributing sample was NaN. `power` is the original B-scan.
__device__ inline bool is_next_to_lost(const FeaturePlanes& planes, const float* power, const ShiftedTaps& taps_z,
                                       const ShiftedTaps& taps_x, int z, int a) {
    for (int i = taps_x.first_deciding(); i < taps_x.end_deciding(); ++i) {
        const float* line = power + taps_x.tap(a, i, planes.a_scans) * planes.depth;
        for (int k = taps_z.first_deciding(); k < taps_z.end_deciding(); ++k) {
            if (!isfinite(line[taps_z.tap(z, k, planes.depth)])) return true;
        }
    }
    return false;
}

// B-scans with the same target: landing[begin] to landing[end - 1].
struct LandingRun {
    std::int32_t begin, end;
};

// blockIdx.x: the A-scan, blockIdx.y: a part of the depths, blockIdx.z: the run. `coefficients`: [landing], starting
// with the first of these runs. `has_lost`: whether the volume `power` contains NaN.
__global__ void __launch_bounds__(threads_of_a_range)
    add_landing(FeaturePlanes planes, const LandingRun* runs, const LandingRow* landing, const float* coefficients,
                const float* power, const unsigned* has_lost, float* sums, float* weights) {
    const int z = depth_of_thread(), a = static_cast<int>(blockIdx.x);
    if (z >= planes.depth) return;
    const LandingRun run = runs[blockIdx.z];
    const std::int64_t to = (std::int64_t{landing[run.begin].to} * planes.a_scans + a) * planes.depth + z;
    const int first = runs[0].begin;
    float sum = sums[to], all_weights = weights[to];
    for (int at = run.begin; at < run.end; ++at) {
        const LandingRow one = landing[at];
        const ShiftedTaps taps_z(one.z), taps_x(one.x);
        if (!taps_z.is_inside(z, planes.depth) || !taps_x.is_inside(a, planes.a_scans)) continue;
        if (*has_lost != 0 && is_next_to_lost(planes, power + one.row * planes.of_row(), taps_z, taps_x, z, a))
            continue;
        const float* plane = coefficients + (at - first) * planes.of_row();
        float value = 0;
        for (int k = 0; k < 4; ++k) {
            const float* from = plane + taps_z.tap(z, k, planes.depth);
            float across = 0;
            for (int x = 0; x < 4; ++x)
                across += taps_x.cubic.weight[x] * from[taps_x.tap(a, x, planes.a_scans) * planes.depth];
            value += taps_z.cubic.weight[k] * across;
        }
        sum += one.weight * (value > 0 ? value : 0.0f);  // splines may undershoot, but power is not negative
        all_weights += one.weight;
    }
    sums[to] = sum;
    weights[to] = all_weights;
}

__global__ void __launch_bounds__(threads_of_a_range)
    divide_by_weights(std::int64_t count, const float* sums, const float* weights, float* mean) {
    const std::int64_t i = element();
    if (i < count) mean[i] = weights[i] > 0 ? sums[i] / weights[i] : nanf("");
}

}  // namespace echolux::cuda
