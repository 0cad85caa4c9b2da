// Kernels that make features of B-scans (docs/tissue.md), a thread a sample, some B-scans at a time. Planes are
// [row][a_scan][depth] of the band that is compared; beyond their ends the end value goes on.
#pragma once

#include <cstdint>

#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/steps/registration.h"

namespace echolux::cuda {

struct FeaturePlanes {
    int depth, a_scans;
    std::int64_t rows;

    __host__ __device__ std::int64_t of_row() const { return std::int64_t{a_scans} * depth; }
    __host__ __device__ std::int64_t samples() const { return rows * of_row(); }
};

// Runs of values, one after the other.
__global__ void __launch_bounds__(threads_of_a_range)
    gather_runs(const float* from, std::int64_t values, std::int64_t length, std::int64_t stride, float* to) {
    const std::int64_t i = element();
    if (i < values) to[i] = from[i / length * stride + i % length];
}

// Whether one of the values is no number.
__global__ void __launch_bounds__(threads_of_a_range)
    find_lost(const float* values, std::int64_t count, unsigned* is_found) {
    bool is_lost = false;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = element(); i < count; i += stride) is_lost = is_lost || !isfinite(values[i]);
    if (__any_sync(0xffffffffu, is_lost) && threadIdx.x % 32 == 0) atomicOr(is_found, 1u);
}

// The band of some B-scans that begin at `power`. What is no number becomes 0; `known`, if wanted: 1, and 0 there.
__global__ void __launch_bounds__(threads_of_a_range)
    take_band(FeaturePlanes planes, const float* power, int depth_of_volume, int first_depth, float* values,
              float* known) {
    const std::int64_t i = element();
    if (i >= planes.samples()) return;
    const float value = power[i / planes.depth * depth_of_volume + first_depth + i % planes.depth];
    const bool is_known = isfinite(value);
    values[i] = is_known ? value : 0;
    if (known != nullptr) known[i] = is_known ? 1 : 0;
}

// Weighted means along depth or along A-scans. `weights`: 2 reach + 1.
__global__ void __launch_bounds__(threads_of_a_range)
    smooth_planes(FeaturePlanes planes, const float* from, bool along_a, int reach, const float* weights, float* to) {
    const std::int64_t i = element();
    if (i >= planes.samples()) return;
    const int z = static_cast<int>(i % planes.depth), a = static_cast<int>(i / planes.depth % planes.a_scans);
    const int at = along_a ? a : z, last = (along_a ? planes.a_scans : planes.depth) - 1;
    const std::int64_t stride = along_a ? planes.depth : 1, first = i - at * stride;
    float sum = 0;
    for (int d = -reach; d <= reach; ++d) sum += weights[d + reach] * from[first + max(0, min(at + d, last)) * stride];
    to[i] = sum;
}

// Smoothed power to features, in place. `shares`, `known`: null where all values are numbers; else means are over what
// is known alone, so that where it ends is no edge.
__global__ void __launch_bounds__(threads_of_a_range)
    take_feature(std::int64_t samples, const float* shares, const float* known, LogFeature feature, float* values) {
    const std::int64_t i = element();
    if (i >= samples) return;
    if (known == nullptr)
        values[i] = feature(values[i]);
    else
        values[i] = known[i] > 0 ? feature(values[i] / shares[i]) : 0;
}

// Means over `half` to either side, along depth.
__global__ void __launch_bounds__(threads_of_a_range)
    mean_along_depth(FeaturePlanes planes, const float* from, int half, float* to) {
    const std::int64_t i = element();
    if (i >= planes.samples()) return;
    const int z = static_cast<int>(i % planes.depth);
    const float* line = from + (i - z);
    double sum = 0;
    for (int d = -half; d <= half; ++d) sum += static_cast<double>(line[max(0, min(z + d, planes.depth - 1))]);
    to[i] = static_cast<float>(sum * (1 / static_cast<double>(2 * half + 1)));
}

inline constexpr int a_scans_together = 64;  // that a thread goes along

// The same along A-scans: a thread takes some of them at one depth.
__global__ void __launch_bounds__(threads_of_a_range)
    mean_along_a_scans(FeaturePlanes planes, const float* from, int half, float* to) {
    const std::int64_t parts = (planes.a_scans + a_scans_together - 1) / a_scans_together, i = element();
    if (i >= planes.rows * parts * planes.depth) return;
    const std::int64_t row = i / planes.depth / parts;
    const int z = static_cast<int>(i % planes.depth),
              first = static_cast<int>(i / planes.depth % parts) * a_scans_together;
    const float* plane = from + row * planes.of_row() + z;
    float* out = to + row * planes.of_row() + z;
    const auto value = [&](int a) {
        return static_cast<double>(plane[static_cast<std::int64_t>(max(0, min(a, planes.a_scans - 1))) * planes.depth]);
    };
    const double share = 1 / static_cast<double>(2 * half + 1);
    double sum = 0;
    for (int d = -half; d <= half; ++d) sum += value(first + d);
    for (int a = first; a < min(first + a_scans_together, planes.a_scans); ++a) {
        out[static_cast<std::int64_t>(a) * planes.depth] = static_cast<float>(sum * share);
        sum += value(a + half + 1) - value(a - half);
    }
}

// What is slow is taken away. `shares`, `known`: as above, of the slow part.
__global__ void __launch_bounds__(threads_of_a_range)
    take_fast(std::int64_t samples, const float* values, const float* slow, const float* shares, const float* known,
              float* to) {
    const std::int64_t i = element();
    if (i >= samples) return;
    if (known == nullptr)
        to[i] = values[i] - slow[i];
    else
        to[i] = known[i] > 0 ? values[i] - slow[i] / shares[i] : 0;
}

inline constexpr int threads_of_a_row = 512;

// A block a B-scan: the mean becomes 0, but for what is not known, which stays 0; the norms. `known`: null, or all.
__global__ void __launch_bounds__(threads_of_a_row)
    centre_rows(FeaturePlanes planes, const float* known, float* values, float* norms) {
    __shared__ double shared[32];
    const std::int64_t count = planes.of_row();
    float* row = values + blockIdx.x * count;
    const float* known_of = known == nullptr ? nullptr : known + blockIdx.x * count;
    double sum = 0, samples = 0, square = 0;
    for (std::int64_t i = threadIdx.x; i < count; i += threads_of_a_row) {
        sum += static_cast<double>(row[i]);
        samples += known_of == nullptr || known_of[i] > 0 ? 1 : 0;
    }
    sum = over_block(sum, Sum{}, shared);
    __syncthreads();
    samples = over_block(samples, Sum{}, shared);
    __syncthreads();
    const auto mean = static_cast<float>(sum / (samples > 1 ? samples : 1));
    for (std::int64_t i = threadIdx.x; i < count; i += threads_of_a_row) {
        const float value = known_of == nullptr || known_of[i] > 0 ? row[i] - mean : 0;
        row[i] = value;
        square += static_cast<double>(value) * static_cast<double>(value);
    }
    square = over_block(square, Sum{}, shared);
    if (threadIdx.x == 0) norms[blockIdx.x] = static_cast<float>(sqrt(square));
}

// A thread a coarse sample: the sum of the fine ones in it.
__global__ void __launch_bounds__(threads_of_a_range)
    make_coarser(FeaturePlanes fine, FeaturePlanes all, int times, const float* from, float* to) {
    const std::int64_t i = element();
    if (i >= all.samples()) return;
    const int z = static_cast<int>(i % all.depth) * times, a = static_cast<int>(i / all.depth % all.a_scans) * times;
    const float* plane = from + i / all.of_row() * fine.of_row();
    float sum = 0;
    for (int x = a; x < min(a + times, fine.a_scans); ++x) {
        for (int d = z; d < min(z + times, fine.depth); ++d)
            sum += plane[static_cast<std::int64_t>(x) * fine.depth + d];
    }
    to[i] = sum;
}

// A block a B-scan.
__global__ void __launch_bounds__(threads_of_a_row)
    find_norms(FeaturePlanes planes, const float* values, float* norms) {
    __shared__ double shared[32];
    const float* row = values + blockIdx.x * planes.of_row();
    double square = 0;
    for (std::int64_t i = threadIdx.x; i < planes.of_row(); i += threads_of_a_row)
        square += static_cast<double>(row[i]) * static_cast<double>(row[i]);
    square = over_block(square, Sum{}, shared);
    if (threadIdx.x == 0) norms[blockIdx.x] = static_cast<float>(sqrt(square));
}

}  // namespace echolux::cuda
