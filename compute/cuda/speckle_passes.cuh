// Speckle filters with one thread per voxel (docs/filters.md): the median of a cube, the bilateral filter, and
// non-local means of any patch, offset by offset, for cases that do not fit the tiles of non_local_means.cuh.
// Neighbours are read from the caches.
#pragma once

#include "compute/cuda/filter_box.cuh"
#include "compute/cuda/launch.h"
#include "compute/steps/speckle.h"

namespace echolux::cuda {

// Median of cubes of `edge` voxels.
template <int edge>
__global__ void __launch_bounds__(threads_of_a_range)
    median_of_cube(FilterBox box, const float* power, float scale, float* out) {
    constexpr int reach = edge / 2;
    const std::int64_t voxel = element();
    if (voxel >= box.voxels()) return;
    const FilterBox::At at = box.at(voxel);
    int rows[edge];
#pragma unroll
    for (int i = 0; i < edge; ++i) rows[i] = box.row(at.z + i - reach);
    out[voxel] = scale * MedianOf<edge * edge * edge>::template of<float>([&](int i) {
                     const int a = i / edge % edge - reach, b = i / edge / edge - reach;
                     return power[box.line(at.b + b, at.a + a) + rows[i % edge]];
                 });
}

// Guide of the bilateral filter before smoothing.
__global__ void __launch_bounds__(threads_of_a_range)
    begin_guide(FilterBox box, const float* power, float margin, float* guide) {
    const std::int64_t voxel = element();
    if (voxel < box.voxels()) guide[voxel] = Decibel{}(power[voxel] + margin);
}

// Smooths along one axis: 0 depth, 1 A-scans, 2 B-scans. `weights`: 2 reach + 1.
__global__ void __launch_bounds__(threads_of_a_range)
    smooth_guide(FilterBox box, const float* from, int axis, int reach, const float* weights, float* to) {
    const std::int64_t voxel = element();
    if (voxel >= box.voxels()) return;
    const FilterBox::At at = box.at(voxel);
    float sum = 0;
    for (int d = -reach; d <= reach; ++d) {
        const int z = axis == 0 ? d : 0, a = axis == 1 ? d : 0, b = axis == 2 ? d : 0;
        sum += weights[d + reach] * from[box.line(at.b + b, at.a + a) + box.row(at.z + z)];
    }
    to[voxel] = sum;
}

// Reach of the window on either side, in voxels.
struct BilateralReach {
    int depth, a_scans, b_scans;
};

__global__ void __launch_bounds__(threads_of_a_range)
    // Bilateral mean: weights fall with distance and with the difference of the guide.
    mean_of_alike(FilterBox box, const float* power, const float* guide, BilateralReach reach, BilateralWeight weight,
                  float* out) {
    const std::int64_t voxel = element();
    if (voxel >= box.voxels()) return;
    const FilterBox::At at = box.at(voxel);
    const float own = guide[voxel];
    float values = 0, weights = 0;
    const int last_b = min(box.b_scans - 1, at.b + reach.b_scans), last_a = min(box.a_scans - 1, at.a + reach.a_scans),
              last_z = min(box.depth - 1, at.z + reach.depth);
    for (int b = max(0, at.b - reach.b_scans); b <= last_b; ++b) {
        for (int a = max(0, at.a - reach.a_scans); a <= last_a; ++a) {
            const std::int64_t line = box.line(b, a);
            const int across = (b - at.b) * (b - at.b) + (a - at.a) * (a - at.a);
#pragma unroll 4
            for (int z = max(0, at.z - reach.depth); z <= last_z; ++z) {
                const auto square = static_cast<float>(across + (z - at.z) * (z - at.z));
                const float w = weight(square, guide[line + z] - own);
                values += w * power[line + z];
                weights += w;
            }
        }
    }
    out[voxel] = values / weights;
}

// ---- non-local means, one offset after another. Sums over patches extend beyond the volume by `patch` A-scans and
// B-scans on either side.

// Offset of the compared voxel.
struct SimilarOffset {
    int z, a, b;
};

// Arguments of the kernels for one offset.
struct SimilarPass {
    FilterBox box;
    int patch;
    bool is_close;
    const float *power, *logs;  // including the margin

    __host__ __device__ FilterBox around() const {
        return {box.depth, box.a_scans + 2 * patch, box.b_scans + 2 * patch};
    }
    __host__ __device__ FilterBox along_a() const { return {box.depth, box.a_scans, box.b_scans + 2 * patch}; }
};

__global__ void __launch_bounds__(threads_of_a_range)
    begin_similar(FilterBox box, const float* from, float margin, float* power, float* logs) {
    const std::int64_t voxel = element();
    if (voxel >= box.voxels()) return;
    power[voxel] = from[voxel] + margin;
    logs[voxel] = Log2{}(power[voxel]);
}

// Computes distances to the voxels at the offset, summed over the patch's rows.
__global__ void __launch_bounds__(threads_of_a_range)
    sum_rows_of_patches(SimilarPass pass, SimilarOffset offset, float* sums) {
    const std::int64_t i = element();
    const FilterBox around = pass.around();
    if (i >= around.voxels()) return;
    const FilterBox::At at = around.at(i);
    const int a = at.a - pass.patch, b = at.b - pass.patch;
    const std::int64_t own = pass.box.line(b, a), other = pass.box.line(b + offset.b, a + offset.a);
    float sum = 0;
    for (int d = -pass.patch; d <= pass.patch; ++d) {
        const std::int64_t mine = own + pass.box.row(at.z + d), its = other + pass.box.row(at.z + d + offset.z);
        sum += pass.is_close ? CloseSpeckleDistance{}(pass.power[mine], pass.power[its], 0, 0)
                             : SpeckleDistance{}(pass.power[mine], pass.power[its], pass.logs[mine], pass.logs[its]);
    }
    sums[i] = sum;
}

__global__ void __launch_bounds__(threads_of_a_range)
    sum_a_scans_of_patches(SimilarPass pass, const float* of_rows, float* sums) {
    const std::int64_t i = element();
    const FilterBox along_a = pass.along_a(), around = pass.around();
    if (i >= along_a.voxels()) return;
    const FilterBox::At at = along_a.at(i);
    float sum = 0;
    for (int d = 0; d <= 2 * pass.patch; ++d) sum += of_rows[around.line(at.b, at.a + d) + at.z];
    sums[i] = sum;
}

__global__ void __launch_bounds__(threads_of_a_range)
    add_offset(SimilarPass pass, SimilarOffset offset, PatchWeight weight, const float* of_a_scans, float* values,
               float* weights) {
    const std::int64_t voxel = element();
    if (voxel >= pass.box.voxels()) return;
    const FilterBox::At at = pass.box.at(voxel);
    if (!pass.box.has(at.z + offset.z, at.a + offset.a, at.b + offset.b)) return;
    const FilterBox along_a = pass.along_a();
    float sum = 0;
    for (int d = 0; d <= 2 * pass.patch; ++d) sum += of_a_scans[along_a.line(at.b + d, at.a) + at.z];
    const auto edge = static_cast<float>(2 * pass.patch + 1);
    const float w = weight(sum * (1 / (edge * edge * edge)));
    values[voxel] += w * pass.power[pass.box.line(at.b + offset.b, at.a + offset.a) + at.z + offset.z];
    weights[voxel] += w;
}

__global__ void __launch_bounds__(threads_of_a_range)
    end_similar(FilterBox box, const float* values, const float* weights, float margin, float* out) {
    const std::int64_t voxel = element();
    if (voxel < box.voxels()) out[voxel] = fmaxf(0.0f, values[voxel] / weights[voxel] - margin);
}

// Computes the max of nonnegative numbers, whose bits have the same order.
__global__ void __launch_bounds__(threads_of_a_range)
    find_greatest(const float* values, std::int64_t count, unsigned* greatest) {
    unsigned most = 0;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = element(); i < count; i += stride) most = max(most, __float_as_uint(fmaxf(values[i], 0.0f)));
    for (int apart = 16; apart > 0; apart /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, apart));
    if (threadIdx.x % 32 == 0) atomicMax(greatest, most);
}

}  // namespace echolux::cuda
