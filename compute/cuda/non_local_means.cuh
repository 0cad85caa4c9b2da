// Non-local means (docs/filters.md) in tiles. A thread block holds a tile of the volume and its surroundings in shared
// memory. Threads of a warp are neighbouring A-scans, and each processes a few rows of a few B-scans with their sums in
// registers. For each offset, patch sums are computed axis by axis: in depth as a product inside a single logarithm,
// across B-scans as a running sum, and along A-scans by exchange between lanes. Several depth offsets are processed
// together, because they share the data read. Special functions, arithmetic and shared memory are about equally loaded.
//
// The volume is extended beyond its ends. Its power is scaled so that products of patch rows remain normal numbers.
#pragma once

#include "compute/cuda/filter_box.cuh"
#include "compute/cuda/launch.h"
#include "compute/steps/speckle.h"

namespace echolux::cuda {

// The tile of a thread block, and the layout of its shared memory.
struct SimilarTile {
    static constexpr int rows = 4;     // per thread
    static constexpr int b_scans = 4;  // per thread
    static constexpr int warps = 8;    // stacked in depth
    static constexpr int threads = 32 * warps;
    static constexpr int depth = rows * warps;
    static constexpr int lanes = 32;  // A-scans, including those at both ends that only belong to other voxels' patches

    int patch;                              // reach on either side
    int search_depth, search_a, search_b;   // reach on either side
    int stride, a_scans, b_scans_of_power;  // power: rows per line (odd, which avoids bank conflicts), lines
    int stride_of_logs, b_scans_of_logs;    // patch logarithms

    __host__ __device__ static SimilarTile of(int patch, int search_depth, int search_a, int search_b) {
        SimilarTile tile{patch, search_depth, search_a, search_b, 0, 0, 0, 0, 0};
        tile.stride = (depth + 2 * (patch + search_depth)) | 1;
        tile.a_scans = lanes + 2 * search_a;
        tile.b_scans_of_power = b_scans + 2 * (patch + search_b);
        tile.stride_of_logs = (depth + 2 * search_depth) | 1;
        tile.b_scans_of_logs = b_scans + 2 * search_b;
        return tile;
    }

    __host__ __device__ int outputs() const { return lanes - 2 * patch; }  // A-scans
    __host__ __device__ int powers() const { return stride * a_scans * b_scans_of_power; }
    __host__ __device__ int logs() const { return stride_of_logs * a_scans * b_scans_of_logs; }

    // Groups of offsets may read slightly beyond the end.
    __host__ __device__ int bytes(int group) const {
        return (powers() + logs() + group) * static_cast<int>(sizeof(float));
    }
};

// Arguments of the kernels. Passed by value.
struct SimilarWork {
    FilterBox box;
    SimilarTile tile;
    const float* power;
    const float* logs;  // patch sums from of_patch()
    float* out;
    float margin, scale;  // margin and scale of the power; the scale is a power of two
    PatchLikelihood likelihood;
};

__device__ inline float scaled_power(float power, float margin, float scale) {
    return (power + margin) * scale;
}

// Computes PatchLikelihood::of_patch() of the patch around each voxel. One thread per row and A-scan, for several
// B-scans. blockIdx.y counts groups of B-scans.
inline constexpr int b_scans_of_patch_sums = 16;

template <int patch>
__global__ void __launch_bounds__(threads_of_a_range) sum_logs_of_patches(SimilarWork work, float* logs) {
    constexpr int edge = 2 * patch + 1;
    const std::int64_t column = element();
    if (column >= work.box.columns()) return;
    const int a = static_cast<int>(column / work.box.depth), z = static_cast<int>(column % work.box.depth);
    const auto of_slice = [&](int b) {
        float sum = 0;
#pragma unroll
        for (int da = -patch; da <= patch; ++da) {
            const float* line = work.power + work.box.line(b, a + da);
            float product = 1;
#pragma unroll
            for (int dz = -patch; dz <= patch; ++dz)
                product *= scaled_power(line[work.box.row(z + dz)], work.margin, work.scale);
            sum += FastLog2{}(product);
        }
        return sum;
    };
    const int first = static_cast<int>(blockIdx.y) * b_scans_of_patch_sums;
    const int end = min(first + b_scans_of_patch_sums, work.box.b_scans);
    float slices[edge];
#pragma unroll
    for (int i = 0; i + 1 < edge; ++i) slices[i + 1] = of_slice(first - patch + i);
    for (int b = first; b < end; ++b) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i + 1 < edge; ++i) slices[i] = slices[i + 1];
        slices[edge - 1] = of_slice(b + patch);
#pragma unroll
        for (int i = 0; i < edge; ++i) sum += slices[i];
        logs[work.box.line(b, a) + z] = work.likelihood.of_patch(sum);
    }
}

// Copies a box of the volume starting at (z, a, b) to shared memory. `value(z, a, b)` returns its elements.
template <class Value>
__device__ inline void fill_tile(float* shared, int depth, int stride, int a_scans, int b_scans, const Value& value) {
    for (int line = static_cast<int>(threadIdx.x) / 32; line < a_scans * b_scans; line += SimilarTile::warps) {
        const int a = line % a_scans, b = line / a_scans;
        for (int z = static_cast<int>(threadIdx.x) % 32; z < depth; z += 32) shared[line * stride + z] = value(z, a, b);
    }
}

// Sums over the lanes up to `patch` on either side. Invalid in the outermost `patch` lanes on both ends.
template <int patch>
__device__ inline float over_lanes(float x) {
    constexpr unsigned all = 0xffffffffu;
    static_assert(patch == 1 || patch == 2);
    if constexpr (patch == 1) {
        return x + __shfl_up_sync(all, x, 1) + __shfl_down_sync(all, x, 1);
    } else {
        const float pair = x + __shfl_down_sync(all, x, 1);
        return pair + __shfl_up_sync(all, pair, 2) + __shfl_down_sync(all, x, 2);
    }
}

// out[i] = in[i] * ... * in[i + 2 patch].
template <int patch, int count>
__device__ inline void running_products(const float* in, float* out) {
    static_assert(count == 4);
    if constexpr (patch == 1) {
        const float first = in[1] * in[2], second = in[3] * in[4];
        out[0] = in[0] * first;
        out[1] = first * in[3];
        out[2] = in[2] * second;
        out[3] = second * in[5];
    } else {
        const float common = in[3] * in[4], left = in[2] * common, right = common * in[5];
        out[0] = (in[0] * in[1]) * left;
        out[1] = in[1] * (left * in[5]);
        out[2] = (in[2] * right) * in[6];
        out[3] = right * (in[6] * in[7]);
    }
}

// A thread's weighted sums for its voxels.
struct SimilarSums {
    float values[SimilarTile::b_scans][SimilarTile::rows]{}, weights[SimilarTile::b_scans][SimilarTile::rows]{};
};

// Adds `count` depth offsets, up to `group`, starting at `shift`. `own` and `own_logs` point to the thread's patches
// and voxels in shared memory.
template <int patch, int group>
__device__ inline void add_similar(const SimilarWork& work, const float* own, const float* own_logs, int shift,
                                   int shift_of_logs, int count, SimilarSums& sums) {
    constexpr int rows = SimilarTile::rows, inside = rows + 2 * patch, others = inside + group - 1,
                  middles = rows + group - 1, planes = 2 * patch;
    const int b_scan = work.tile.stride * work.tile.a_scans,
              b_scan_of_logs = work.tile.stride_of_logs * work.tile.a_scans;
    float before[planes][group][rows], middle[patch + 1][middles];
#pragma unroll
    for (int t = 0; t < SimilarTile::b_scans + planes; ++t) {
        float mine[inside], other[others];
#pragma unroll
        for (int i = 0; i < inside; ++i) mine[i] = own[t * b_scan + i];
#pragma unroll
        for (int i = 0; i < others; ++i) other[i] = own[shift + t * b_scan + i];
#pragma unroll
        for (int i = 0; i < middles; ++i) middle[t % (patch + 1)][i] = other[patch + i];
        const int b = t - planes;
        float my_logs[rows], other_logs[middles];
        if (b >= 0) {
#pragma unroll
            for (int i = 0; i < rows; ++i) my_logs[i] = own_logs[b * b_scan_of_logs + i];
#pragma unroll
            for (int i = 0; i < middles; ++i) other_logs[i] = own_logs[shift_of_logs + b * b_scan_of_logs + i];
        }
#pragma unroll
        for (int g = 0; g < group; ++g) {
            if (g >= count) break;
            float both[inside], products[rows];
#pragma unroll
            for (int i = 0; i < inside; ++i) both[i] = mine[i] + other[i + g];
            running_products<patch, rows>(both, products);
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                const float log = FastLog2{}(products[r]);
                if (b >= 0) {
                    float box = log;
#pragma unroll
                    for (int i = 0; i < planes; ++i) box += before[i][g][r];
                    const float weight = work.likelihood(over_lanes<patch>(box), my_logs[r], other_logs[r + g]);
                    sums.values[b][r] += weight * middle[(t - patch) % (patch + 1)][r + g];
                    sums.weights[b][r] += weight;
                }
                before[t % planes][g][r] = log;
            }
        }
    }
}

template <int patch, int group>
__global__ void __launch_bounds__(SimilarTile::threads, 2) mean_of_similar(SimilarWork work) {
    extern __shared__ float tile_of_block[];
    const SimilarTile& tile = work.tile;
    float *power = tile_of_block, *logs = tile_of_block + tile.powers();
    const int first_z = static_cast<int>(blockIdx.x) * SimilarTile::depth;
    const int first_a = static_cast<int>(blockIdx.y) * tile.outputs() - patch;  // A-scan of lane 0
    const int first_b = static_cast<int>(blockIdx.z) * SimilarTile::b_scans;
    fill_tile(power, SimilarTile::depth + 2 * (patch + tile.search_depth), tile.stride, tile.a_scans,
              tile.b_scans_of_power, [&](int z, int a, int b) {
                  const float* line =
                      work.power + work.box.line(first_b - patch - tile.search_b + b, first_a - tile.search_a + a);
                  return scaled_power(line[work.box.row(first_z - patch - tile.search_depth + z)], work.margin,
                                      work.scale);
              });
    fill_tile(logs, SimilarTile::depth + 2 * tile.search_depth, tile.stride_of_logs, tile.a_scans, tile.b_scans_of_logs,
              [&](int z, int a, int b) {
                  z += first_z - tile.search_depth;
                  a += first_a - tile.search_a;
                  b += first_b - tile.search_b;
                  return work.box.has(z, a, b) ? work.logs[work.box.line(b, a) + z] : PatchLikelihood::nowhere();
              });
    __syncthreads();

    const int lane = static_cast<int>(threadIdx.x) % 32, row = static_cast<int>(threadIdx.x) / 32 * SimilarTile::rows;
    const float* own =
        power + (tile.search_b * tile.a_scans + tile.search_a + lane) * tile.stride + tile.search_depth + row;
    const float* own_logs =
        logs + (tile.search_b * tile.a_scans + tile.search_a + lane) * tile.stride_of_logs + tile.search_depth + row;
    SimilarSums sums;
#pragma unroll 1
    for (int db = -tile.search_b; db <= tile.search_b; ++db) {
#pragma unroll 1
        for (int da = -tile.search_a; da <= tile.search_a; ++da) {
#pragma unroll 1
            for (int dz = -tile.search_depth; dz <= tile.search_depth; dz += group) {
                const int line = db * tile.a_scans + da;
                add_similar<patch, group>(work, own, own_logs, line * tile.stride + dz, line * tile.stride_of_logs + dz,
                                          tile.search_depth - dz + 1, sums);
            }
        }
    }
    const int a = first_a + lane;
    if (lane < patch || lane >= 32 - patch || a >= work.box.a_scans) return;
    const float unscaled = 1 / work.scale;
#pragma unroll
    for (int b = 0; b < SimilarTile::b_scans; ++b) {
        if (first_b + b >= work.box.b_scans) continue;
        float* out = work.out + work.box.line(first_b + b, a) + first_z + row;
#pragma unroll
        for (int r = 0; r < SimilarTile::rows; ++r) {
            if (first_z + row + r < work.box.depth)
                out[r] = fmaxf(0.0f, sums.values[b][r] / sums.weights[b][r] * unscaled - work.margin);
        }
    }
}

}  // namespace echolux::cuda
