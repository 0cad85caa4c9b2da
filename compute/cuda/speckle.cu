// Speckle filters on the GPU: their kernels, and the selection of kernels, grids and work memory.
#include "compute/cuda/entry.h"
#include "compute/cuda/speckle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/steps/speckle.h"

namespace echolux::cuda {

// ---- A volume on the GPU for filters: [b_scan][a_scan][depth]. Coordinates beyond its ends are clamped.

// Dimensions of a volume, with index arithmetic.
struct FilterBox {
    int depth, a_scans, b_scans;

    __host__ __device__ std::int64_t columns() const { return std::int64_t{depth} * a_scans; }
    __host__ __device__ std::int64_t voxels() const { return columns() * b_scans; }

    __device__ bool has(int z, int a, int b) const {
        return z >= 0 && z < depth && a >= 0 && a < a_scans && b >= 0 && b < b_scans;
    }
    __device__ int row(int z) const { return inside(z, depth); }

    // Returns the start of an A-scan, clamped to the nearest existing one.
    __device__ std::int64_t line(int b, int a) const {
        return (std::int64_t{inside(b, b_scans)} * a_scans + inside(a, a_scans)) * depth;
    }

    struct At {
        int z, a, b;
    };
    __device__ At at(std::int64_t voxel) const {
        const std::int64_t line = voxel / depth;
        return {static_cast<int>(voxel % depth), static_cast<int>(line % a_scans), static_cast<int>(line / a_scans)};
    }

  private:
    __device__ static int inside(int at, int count) { return at < 0 ? 0 : at < count ? at : count - 1; }
};

// ---- Speckle filters with one thread per voxel (docs/filters.md): the median of a cube, the bilateral filter, and
// non-local means of any patch, offset by offset, for cases that do not fit the tiles below. Neighbours are read from
// the caches.

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

// Bilateral mean: weights fall with distance and with the difference of the guide.
__global__ void __launch_bounds__(threads_of_a_range)
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

// ---- Non-local means, one offset after another. Sums over patches extend beyond the volume by `patch` A-scans and
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
    find_max(const float* values, std::int64_t count, unsigned* greatest) {
    unsigned most = 0;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = element(); i < count; i += stride) most = max(most, __float_as_uint(fmaxf(values[i], 0.0f)));
    for (int apart = 16; apart > 0; apart /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, apart));
    if (threadIdx.x % 32 == 0) atomicMax(greatest, most);
}

// ---- Non-local means (docs/filters.md) in tiles. A thread block holds a tile of the volume and its surroundings in
// shared memory. Threads of a warp are neighbouring A-scans, and each processes a few rows of a few B-scans with their
// sums in registers. For each offset, patch sums are computed axis by axis: in depth as a product inside a single
// logarithm, across B-scans as a running sum, and along A-scans by exchange between lanes. Several depth offsets are
// processed together, because they share the data read. Special functions, arithmetic and shared memory are about
// equally loaded.
//
// The volume is extended beyond its ends. Its power is scaled so that products of patch rows remain normal numbers.

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
                  return work.box.has(z, a, b) ? work.logs[work.box.line(b, a) + z] : PatchLikelihood::no_level();
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

namespace {

constexpr std::int64_t float_bytes = sizeof(float);

FilterBox box_of(const std::array<std::int64_t, 3>& size) {
    constexpr std::int64_t most = std::numeric_limits<int>::max() / 4;
    for (const std::int64_t axis : size) {
        if (axis > most) throw Error(ErrorCode::device, "the volume is too long for filters on a GPU", "cuda");
    }
    return {static_cast<int>(size[0]), static_cast<int>(size[1]), static_cast<int>(size[2])};
}

// Adapts a DeviceFilter to the interface of compute/speckle.h.
class FilterOnGpu : OfDevice, public SpeckleFilterOnGpu {
  public:
    FilterOnGpu(int device, std::unique_ptr<DeviceFilter> filter) : OfDevice(device), filter_(std::move(filter)) {}

    ~FilterOnGpu() override { leave(stream_); }

    void operator()(const float* power, float* out) override {
        const CurrentDevice current(device_);
        filter_->enqueue(power, out, stream_);
        checked(cudaStreamSynchronize(stream_), "filter speckle");
    }

    std::string why_slow() const override {
        const CurrentDevice current(device_);
        return filter_->why_slow();
    }

  private:
    std::unique_ptr<DeviceFilter> filter_;
    Stream stream_;
};

// Filter of an empty volume.
class NothingOnDevice : public DeviceFilter {
    bool has_margin() const override { return false; }
    void set_margin(float) override {}
    void enqueue(const float*, float*, cudaStream_t) override {}
};

class MedianOnDevice : public DeviceFilter {
  public:
    MedianOnDevice(const FilterBox& box, const MedianTables& tables) : box_(box), tables_(tables) {}

    bool has_margin() const override { return false; }
    void set_margin(float) override {}

    void enqueue(const float* power, float* out, cudaStream_t stream) override {
        const auto kernel = tables_.edge == 3 ? median_of_cube<3> : median_of_cube<5>;
        kernel<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(box_, power, tables_.scale, out);
        checked_launch("find medians");
    }

  private:
    FilterBox box_;
    MedianTables tables_;
};

class BilateralOnDevice : public DeviceFilter {
  public:
    BilateralOnDevice(const FilterBox& box, const BilateralTables& tables)
        : box_(box), tables_(tables), guide_(box_.voxels() * float_bytes), smoothed_(guide_.bytes()) {
        for (std::size_t axis = 0; axis < 3; ++axis) weights_[axis] = uploaded(tables.smoothing[axis]);
    }

    bool has_margin() const override { return true; }
    void set_margin(float margin) override { tables_.margin = margin; }

    void enqueue(const float* power, float* out, cudaStream_t stream) override {
        begin_guide<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(box_, power, tables_.margin,
                                                                                  guide_.as<float>());
        checked_launch("compute a guide");
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (tables_.smoothing[axis].empty()) continue;
            const auto reach = static_cast<int>(tables_.smoothing[axis].size() / 2);
            smooth_guide<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(
                box_, guide_.as<float>(), static_cast<int>(axis), reach, weights_[axis].as<float>(),
                smoothed_.as<float>());
            checked_launch("smooth a guide");
            std::swap(guide_, smoothed_);
        }
        const BilateralReach reach{static_cast<int>(tables_.reach[0]), static_cast<int>(tables_.reach[1]),
                                   static_cast<int>(tables_.reach[2])};
        mean_of_alike<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(box_, power, guide_.as<float>(),
                                                                                    reach, tables_.weight, out);
        checked_launch("filter by brightness");
    }

  private:
    FilterBox box_;
    BilateralTables tables_;
    DeviceBuffer guide_, smoothed_;
    std::array<DeviceBuffer, 3> weights_;
};

// Depth offsets processed together, as many as registers allow. On an H100 with 512^3 voxels and a search of 7 x 7 x 3,
// patches of 3 take 24.2, 23.8 and 35.3 ms with 3, 4 and 7 offsets (7 spills registers), and patches of 5 take 37.8,
// 47.4 and 55.7 ms with 2, 3 and 4. With twice the B-scans per thread there are too few threads: 34.0 ms.
template <int patch>
constexpr int offsets_together = patch == 1 ? 4 : 2;

// Selects tiles if they fit and the values are in range, otherwise passes.
class NonLocalMeansOnDevice : public DeviceFilter {
  public:
    NonLocalMeansOnDevice(const FilterBox& box, const NonLocalMeansTables& tables)
        : box_(box), tables_(tables),
          tile_(SimilarTile::of(static_cast<int>(tables.patch), static_cast<int>(tables.search[0]),
                                static_cast<int>(tables.search[1]), static_cast<int>(tables.search[2]))),
          max_(sizeof(unsigned)), on_host_(sizeof(unsigned)) {}

    bool has_margin() const override { return true; }
    void set_margin(float margin) override { tables_.margin = margin; }

    void enqueue(const float* power, float* out, cudaStream_t stream) override {
        if (tables_.weight.is_close()) return in_passes(power, out, stream);
        const float greatest = max_of(power, stream);
        if (tables_.patch == 1 && fits<1>() && is_narrow(greatest)) return in_tiles<1>(power, greatest, out, stream);
        if (tables_.patch == 2 && fits<2>() && is_narrow(greatest)) return in_tiles<2>(power, greatest, out, stream);
        in_passes(power, out, stream);
    }

    std::string why_slow() const override {
        constexpr int kib = 1024;
        const int needed = tables_.patch == 1   ? tile_.bytes(offsets_together<1>)
                           : tables_.patch == 2 ? tile_.bytes(offsets_together<2>)
                                                : 0;
        if (needed <= max_shared_bytes()) return {};
        return "this search needs " + std::to_string(needed / kib) +
               " KiB of a GPU's shared memory, of which this one has " + std::to_string(max_shared_bytes() / kib) +
               ": using a slower kernel; a narrower search (filter.search_*) is faster";
    }

  private:
    float max_of(const float* power, cudaStream_t stream) {
        constexpr unsigned blocks = 1024;
        checked(cudaMemsetAsync(max_.data(), 0, sizeof(unsigned), stream), "clear a number");
        find_max<<<std::min(blocks, blocks_for(box_.voxels())), threads_of_a_range, 0, stream>>>(power, box_.voxels(),
                                                                                                 max_.as<unsigned>());
        checked_launch("find the maximum power");
        checked(cudaMemcpyAsync(on_host_.data(), max_.data(), sizeof(unsigned), cudaMemcpyDeviceToHost, stream),
                "copy the maximum power");
        checked(cudaStreamSynchronize(stream), "find the maximum power");
        return *on_host_.as<float>();
    }

    // Returns whether products of a patch's rows, sums of two voxels, remain normal numbers: 5 factors of 2^-22 to
    // 2^24.
    bool is_narrow(float greatest) const { return greatest < tables_.margin * 0x1p44f; }

    // Logarithms are most accurate near 0, so the scale places tissue there, far above the margin.
    float scale_for(float greatest) const {
        const float at_most = 22 - std::ceil(std::log2(greatest + tables_.margin));
        return std::exp2(std::min(at_most, -std::round(std::log2(64 * tables_.margin))));
    }

    template <int patch>
    bool fits() const {
        constexpr int grid_end = 65535;
        return tile_.bytes(offsets_together<patch>) <= max_shared_bytes() &&
               box_.a_scans / tile_.outputs() < grid_end && box_.b_scans / SimilarTile::b_scans < grid_end;
    }

    template <int patch>
    void in_tiles(const float* power, float greatest, float* out, cudaStream_t stream) {
        constexpr int group = offsets_together<patch>, edge = 2 * patch + 1;
        logs_.reserve(box_.voxels() * float_bytes);
        const SimilarWork work{box_,
                               tile_,
                               power,
                               logs_.as<float>(),
                               out,
                               tables_.margin,
                               scale_for(greatest),
                               PatchLikelihood::of(tables_.weight, static_cast<float>(edge * edge * edge))};
        const auto parts = [](int count, int part) { return static_cast<unsigned>((count + part - 1) / part); };
        const dim3 columns(blocks_for(box_.columns()), parts(box_.b_scans, b_scans_of_patch_sums));
        sum_logs_of_patches<patch><<<columns, threads_of_a_range, 0, stream>>>(work, logs_.as<float>());
        checked_launch("sum logarithms of patches");
        const int bytes = tile_.bytes(group);
        const auto kernel = mean_of_similar<patch, group>;
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, max_shared_bytes()),
                "request shared memory");
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared),
                "request shared memory");
        const dim3 tiles(parts(box_.depth, SimilarTile::depth), parts(box_.a_scans, tile_.outputs()),
                         parts(box_.b_scans, SimilarTile::b_scans));
        kernel<<<tiles, SimilarTile::threads, index(bytes), stream>>>(work);
        checked_launch("average similar voxels");
    }

    // Accumulates values and weights over all offsets, one offset at a time.
    void in_passes(const float* power, float* out, cudaStream_t stream) {
        SimilarPass pass{box_, static_cast<int>(tables_.patch), tables_.weight.is_close(), nullptr, nullptr};
        const std::int64_t bytes = box_.voxels() * float_bytes;
        power_.reserve(bytes);
        logs_.reserve(bytes);
        values_.reserve(bytes);
        weights_.reserve(bytes);
        of_rows_.reserve(pass.around().voxels() * float_bytes);
        of_a_scans_.reserve(pass.along_a().voxels() * float_bytes);
        pass.power = power_.as<float>();
        pass.logs = logs_.as<float>();
        begin_similar<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(
            box_, power, tables_.margin, power_.as<float>(), logs_.as<float>());
        checked_launch("compute logarithms");
        for (const DeviceBuffer* sum : {&values_, &weights_}) {
            checked(cudaMemsetAsync(sum->data(), 0, index(bytes), stream), "clear sums");
        }
        const auto [depth, a_scans, b_scans] = tables_.search;
        for (int b = static_cast<int>(-b_scans); b <= b_scans; ++b) {
            for (int a = static_cast<int>(-a_scans); a <= a_scans; ++a) {
                for (int z = static_cast<int>(-depth); z <= depth; ++z) add(pass, {z, a, b}, stream);
            }
        }
        end_similar<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(
            box_, values_.as<float>(), weights_.as<float>(), tables_.margin, out);
        checked_launch("average similar voxels");
    }

    void add(const SimilarPass& pass, const SimilarOffset& offset, cudaStream_t stream) {
        sum_rows_of_patches<<<blocks_for(pass.around().voxels()), threads_of_a_range, 0, stream>>>(
            pass, offset, of_rows_.as<float>());
        sum_a_scans_of_patches<<<blocks_for(pass.along_a().voxels()), threads_of_a_range, 0, stream>>>(
            pass, of_rows_.as<float>(), of_a_scans_.as<float>());
        add_offset<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(
            pass, offset, tables_.weight, of_a_scans_.as<float>(), values_.as<float>(), weights_.as<float>());
        checked_launch("compare patches");
    }

    FilterBox box_;
    NonLocalMeansTables tables_;
    SimilarTile tile_;
    DeviceBuffer max_;
    PinnedBuffer on_host_;
    DeviceBuffer logs_, power_, values_, weights_, of_rows_, of_a_scans_;
};

// Returns the work memory of a filter in volumes of floats.
std::int64_t volumes_besides(const SpeckleTables& tables) {
    if (const auto* nlm = std::get_if<NonLocalMeansTables>(&tables)) {
        constexpr std::int64_t in_tiles = 1, in_passes = 7;
        const bool has_tiles = (nlm->patch == 1 || nlm->patch == 2) && !nlm->weight.is_close();
        return has_tiles ? in_tiles : in_passes;
    }
    return std::holds_alternative<BilateralTables>(tables) ? 2 : 0;
}

std::unique_ptr<DeviceFilter> filter_of(const FilterBox& box, const SpeckleTables& tables) {
    if (box.voxels() == 0) return std::make_unique<NothingOnDevice>();
    if (const auto* nlm = std::get_if<NonLocalMeansTables>(&tables))
        return std::make_unique<NonLocalMeansOnDevice>(box, *nlm);
    if (const auto* median = std::get_if<MedianTables>(&tables)) return std::make_unique<MedianOnDevice>(box, *median);
    return std::make_unique<BilateralOnDevice>(box, std::get<BilateralTables>(tables));
}

}  // namespace

std::unique_ptr<DeviceFilter> device_filter(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables) {
    return filter_of(box_of(size), tables);
}

std::unique_ptr<SpeckleFilterOnGpu> speckle_filter(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables,
                                                   const BackendChoice& choice) {
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    require_free(filter_bytes(size, tables), "this filter",
                 "filter a part of the volume, close what else uses the GPU, or choose `backend` cpu");
    return std::make_unique<FilterOnGpu>(device, filter_of(box_of(size), tables));
}

std::int64_t filter_bytes(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables) {
    return volumes_besides(tables) * size[0] * size[1] * size[2] * float_bytes;
}

}  // namespace echolux::cuda
