// Kernels that compute features of B-scans (docs/tissue.md), one thread per sample, for several B-scans at a time.
// Planes are [row][a_scan][depth] of the compared depth range. Beyond their ends the end value repeats.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/error.h"
#include "compute/steps/registration.h"

namespace echolux::cuda {

// Dimensions of a set of planes.
struct FeaturePlanes {
    int depth, a_scans;
    std::int64_t rows;

    __host__ __device__ std::int64_t of_row() const { return std::int64_t{a_scans} * depth; }
    __host__ __device__ std::int64_t samples() const { return rows * of_row(); }
};

// Launch configuration with one thread per sample. blockIdx.x is the A-scan, blockIdx.y a part of its depths.
struct OverPlanes {
    dim3 blocks;
    unsigned threads;

    explicit OverPlanes(const FeaturePlanes& planes) : OverPlanes(planes.rows * planes.a_scans, planes.depth) {}
    OverPlanes(std::int64_t lines, int depth) : threads(threads_for_depths(depth)) {
        blocks = dim3(static_cast<unsigned>(lines), (static_cast<unsigned>(depth) + threads - 1) / threads);
    }
};

// Returns the depth of such a thread.
__device__ inline int depth_of_thread() {
    return static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
}

// The sample of such a thread.
struct PlaneSample {
    int z, a, row;
    std::int64_t line;  // position of depth 0

    __device__ explicit PlaneSample(const FeaturePlanes& planes)
        : z(depth_of_thread()), a(static_cast<int>(blockIdx.x) % planes.a_scans),
          row(static_cast<int>(blockIdx.x) / planes.a_scans), line(std::int64_t{blockIdx.x} * planes.depth) {}

    __device__ bool is_in(const FeaturePlanes& planes) const { return z < planes.depth; }
    __device__ std::int64_t at() const { return line + z; }
};

// Gathers runs of values, one after another.
__global__ void __launch_bounds__(threads_of_a_range)
    gather_runs(const float* from, std::int64_t values, std::int64_t length, std::int64_t stride, float* to) {
    const std::int64_t i = element();
    if (i < values) to[i] = from[i / length * stride + i % length];
}

// Sets the flag if a value is NaN or infinite.
__global__ void __launch_bounds__(threads_of_a_range)
    find_lost(const float* values, std::int64_t count, unsigned* is_found) {
    bool is_lost = false;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = element(); i < count; i += stride) is_lost = is_lost || !isfinite(values[i]);
    if (__any_sync(0xffffffffu, is_lost) && threadIdx.x % 32 == 0) atomicOr(is_found, 1u);
}

// Copies the compared depth range of B-scans starting at `power`. NaN becomes 0. `known`, if not null, is 1 for valid
// samples and 0 for NaN.
__global__ void __launch_bounds__(threads_of_a_range)
    take_band(FeaturePlanes planes, const float* power, int depth_of_volume, int first_depth, float* values,
              float* known) {
    const PlaneSample sample(planes);
    if (!sample.is_in(planes)) return;
    const float value = power[std::int64_t{blockIdx.x} * depth_of_volume + first_depth + sample.z];
    const bool is_known = isfinite(value);
    values[sample.at()] = is_known ? value : 0;
    if (known != nullptr) known[sample.at()] = is_known ? 1 : 0;
}

// 2 reach + 1 weights, passed by value.
struct SmoothingWeights {
    static constexpr int most = 15;

    float weight[most];
    int reach;

    explicit SmoothingWeights(const std::vector<float>& weights) : reach(static_cast<int>(weights.size() / 2)) {
        if (weights.size() > most) throw Error(ErrorCode::device, "the features are too wide for a GPU", "cuda");
        std::copy(weights.begin(), weights.end(), weight);
    }
};

// Weighted means along depth or along A-scans.
template <bool along_a>
__global__ void __launch_bounds__(threads_of_a_range)
    smooth_planes(FeaturePlanes planes, const float* from, SmoothingWeights weights, float* to) {
    const PlaneSample sample(planes);
    if (!sample.is_in(planes)) return;
    const int at = along_a ? sample.a : sample.z, last = (along_a ? planes.a_scans : planes.depth) - 1;
    const int stride = along_a ? planes.depth : 1;
    const float* here = from + sample.at();
    float sum = 0;
    for (int d = -weights.reach; d <= weights.reach; ++d)
        sum += weights.weight[d + weights.reach] * here[(max(0, min(at + d, last)) - at) * stride];
    to[sample.at()] = sum;
}

// Converts smoothed power to features in place. `shares` and `known` are null if all values are valid. Otherwise means
// are over valid samples only, so that their boundary does not appear as an edge.
__global__ void __launch_bounds__(threads_of_a_range)
    take_feature(std::int64_t samples, const float* shares, const float* known, LogFeature feature, float* values) {
    const std::int64_t i = element();
    if (i >= samples) return;
    if (known == nullptr)
        values[i] = feature(values[i]);
    else
        values[i] = known[i] > 0 ? feature(values[i] / shares[i]) : 0;
}

// Means over `half` samples on either side in depth.
__global__ void __launch_bounds__(threads_of_a_range)
    mean_along_depth(FeaturePlanes planes, const float* from, int half, float* to) {
    const PlaneSample sample(planes);
    if (!sample.is_in(planes)) return;
    const float* line = from + sample.line;
    float sum = 0;
    for (int d = -half; d <= half; ++d) sum += line[max(0, min(sample.z + d, planes.depth - 1))];
    to[sample.at()] = sum * (1 / static_cast<float>(2 * half + 1));
}

inline constexpr int a_scans_together = 64;  // per thread

// Means along A-scans. A thread processes several A-scans at one depth. blockIdx.x: a part of a B-scan.
__global__ void __launch_bounds__(threads_of_a_range)
    mean_along_a_scans(FeaturePlanes planes, const float* from, int half, float* to) {
    const int parts = (planes.a_scans + a_scans_together - 1) / a_scans_together, z = depth_of_thread();
    if (z >= planes.depth) return;
    const std::int64_t row = static_cast<int>(blockIdx.x) / parts;
    const int first = static_cast<int>(blockIdx.x) % parts * a_scans_together;
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

// Subtracts the slowly varying part. `shares`, `known`: as above, for that part.
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

// One block per B-scan: subtracts the mean, except from invalid samples, which stay 0, and computes the norms. `known`
// is null if all are valid.
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

// One thread per coarse sample: the sum of its fine samples.
__global__ void __launch_bounds__(threads_of_a_range)
    make_coarser(FeaturePlanes fine, FeaturePlanes all, int times, const float* from, float* to) {
    const PlaneSample coarse(all);
    if (!coarse.is_in(all)) return;
    const int z = coarse.z * times, a = coarse.a * times;
    const float* plane = from + coarse.row * fine.of_row();
    float sum = 0;
    for (int x = a; x < min(a + times, fine.a_scans); ++x) {
        for (int d = z; d < min(z + times, fine.depth); ++d)
            sum += plane[static_cast<std::int64_t>(x) * fine.depth + d];
    }
    to[coarse.at()] = sum;
}

// One block per B-scan.
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
