// Kernels of registration (docs/tissue.md): features of B-scans, their correlations, and means of registered volumes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/error.h"
#include "compute/steps/registration.h"
#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// ---- Kernels that compute features of B-scans, one thread per sample, for several B-scans at a time. Planes are
// [row][a_scan][depth] of the compared depth range. Beyond their ends the end value repeats.

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

// ---- Kernels that correlate B-scans: for all coarse shifts of pairs of B-scans, using sums in shared memory that are
// combined to maps of strips and their peaks; and fine correlations around given positions.

// Coarse planes, [row][a_scan][depth], of some B-scans of a moving volume and all B-scans of a reference.
struct CoarsePairs {
    const float *moving, *reference;
    int depth, a_scans;
    StripRows strips;
    std::int64_t first_row;  // in the moving volume
    int first_y, offsets;
    ShiftMap map;

    __device__ std::int64_t of_row() const { return std::int64_t{a_scans} * depth; }
};

// A block processes a pair of B-scans and a part of the shifts: `shifts_x` along A-scans and `tile_shifts` in depth. A
// thread sums `shifts_of_thread` of the latter for one shift along A-scans. The block iterates over the planes in
// tiles.
struct CorrelationTile {
    static constexpr int threads = 128, shifts_of_thread = 12, groups = 3;
    static constexpr int tile_shifts = shifts_of_thread * groups;  // in depth
    static constexpr int a_scans = 16, depth = 128;
    static constexpr int stride =
        172;  // between A-scans in shared memory: an odd multiple of four, larger than depth + tile_shifts
    static constexpr int most_shifts_x = threads / groups - 2;

    int shifts_x;

    // Returns the smallest number of equal parts for shifts of -max .. max.
    __host__ static CorrelationTile of(int max_x) {
        const int all = 2 * max_x + 1, parts = (all + most_shifts_x - 1) / most_shifts_x;
        return {(all + parts - 1) / parts};
    }
    __host__ __device__ int parts_of_x(const ShiftMap& map) const { return (2 * map.max_x + shifts_x) / shifts_x; }
    __host__ __device__ int parts_of_z(const ShiftMap& map) const {
        return (2 * map.max_z + tile_shifts) / tile_shifts;
    }
    __host__ __device__ int floats() const { return a_scans * depth + (a_scans + shifts_x - 1) * stride; }
};

// Sums of one thread over one A-scan of a tile: shift j of `sums` accumulates a[z + j] b[z].
__device__ inline void correlate_line(const float4* a, const float4* b, float* sums) {
    constexpr int count = CorrelationTile::shifts_of_thread;
    float ring[16];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float4 four = a[i];
        ring[4 * i] = four.x;
        ring[4 * i + 1] = four.y;
        ring[4 * i + 2] = four.z;
        ring[4 * i + 3] = four.w;
    }
    for (int z = 0; z < CorrelationTile::depth / 4; z += 4) {
#pragma unroll
        for (int u = 0; u < 4; ++u) {
            const float4 here = b[z + u];
            const float values[4] = {here.x, here.y, here.z, here.w};
#pragma unroll
            for (int k = 0; k < 4; ++k) {
#pragma unroll
                for (int j = 0; j < count; ++j) sums[j] += values[k] * ring[(4 * u + k + j) % 16];
            }
            const float4 next = a[z + u + 4];
            ring[4 * u] = next.x;
            ring[4 * u + 1] = next.y;
            ring[4 * u + 2] = next.z;
            ring[4 * u + 3] = next.w;
        }
    }
}

// maps[row][y][cell]. blockIdx.x: the pair, blockIdx.y: the part of the shifts.
__global__ void __launch_bounds__(CorrelationTile::threads)
    correlate_pairs(CoarsePairs pairs, CorrelationTile tile, float* maps) {
    extern __shared__ float4 shared_fours[];
    float* const b = reinterpret_cast<float*>(shared_fours);
    float* const a = b + CorrelationTile::a_scans * CorrelationTile::depth;
    constexpr int count = CorrelationTile::shifts_of_thread, threads = CorrelationTile::threads;
    const std::int64_t row = pairs.first_row + blockIdx.x / pairs.offsets;
    const std::int64_t partner = row + pairs.first_y + static_cast<int>(blockIdx.x) % pairs.offsets;
    if (partner < 0 || partner >= pairs.strips.reference_rows) return;
    if (!(pairs.strips.moving[row] > 0) || !(pairs.strips.reference[partner] > 0)) return;
    const int tid = static_cast<int>(threadIdx.x), part = static_cast<int>(blockIdx.y);
    const int parts_x = tile.parts_of_x(pairs.map);
    const int first_x = -pairs.map.max_x + part % parts_x * tile.shifts_x;
    const int first_z = -pairs.map.max_z + part / parts_x * CorrelationTile::tile_shifts;
    const int items = tile.shifts_x * CorrelationTile::groups;
    const int shares = min(threads / items, CorrelationTile::a_scans);  // threads that divide the A-scans of an item
    const int item = tid % items, share = tid / items;
    const int x = item % tile.shifts_x, group = item / tile.shifts_x;
    const float* moving = pairs.moving + row * pairs.of_row();
    const float* reference = pairs.reference + partner * pairs.of_row();
    float sums[count] = {};
    for (int a0 = 0; a0 < pairs.a_scans; a0 += CorrelationTile::a_scans) {
        for (int z0 = 0; z0 < pairs.depth; z0 += CorrelationTile::depth) {
            __syncthreads();
            for (int i = tid; i < CorrelationTile::a_scans * CorrelationTile::depth; i += threads) {
                const int line = a0 + i / CorrelationTile::depth, z = z0 + i % CorrelationTile::depth;
                const bool is_there = line < pairs.a_scans && z < pairs.depth;
                b[i] = is_there ? moving[std::int64_t{line} * pairs.depth + z] : 0;
            }
            const int lines = CorrelationTile::a_scans + tile.shifts_x - 1;
            for (int i = tid; i < lines * CorrelationTile::stride; i += threads) {
                const int line = a0 + first_x + i / CorrelationTile::stride,
                          z = z0 + first_z + i % CorrelationTile::stride;
                const bool is_there = line >= 0 && line < pairs.a_scans && z >= 0 && z < pairs.depth;
                a[i] = is_there ? reference[std::int64_t{line} * pairs.depth + z] : 0;
            }
            __syncthreads();
            if (share >= shares) continue;
            for (int line = share; line < CorrelationTile::a_scans; line += shares) {
                correlate_line(
                    reinterpret_cast<const float4*>(a + (line + x) * CorrelationTile::stride) + group * (count / 4),
                    reinterpret_cast<const float4*>(b + line * CorrelationTile::depth), sums);
            }
        }
    }
    __syncthreads();
    if (share < shares) {
        for (int j = 0; j < count; ++j) b[tid * count + j] = sums[j];  // the memory of a and b is free, see floats()
    }
    __syncthreads();
    for (int i = tid; i < items * count; i += threads) {
        const int of_item = i / count;
        const int shift_x = first_x + of_item % tile.shifts_x,
                  shift_z = first_z + of_item / tile.shifts_x * count + i % count;
        if (shift_x > pairs.map.max_x || shift_z > pairs.map.max_z) continue;
        float sum = 0;
        for (int s = 0; s < shares; ++s) sum += b[(s * items + of_item) * count + i % count];
        const int cell = (shift_x + pairs.map.max_x) * pairs.map.depth() + shift_z + pairs.map.max_z;
        maps[static_cast<std::int64_t>(blockIdx.x) * pairs.map.cells() + cell] = sum;
    }
}

// The largest correlation, and the first cell that has it.
struct BestCell {
    float value;
    std::int32_t cell;
};

// Reduction to the largest value. The smaller cell wins ties, so the result does not depend on the order of threads.
struct BetterCell {
    __device__ BestCell operator()(const BestCell& one, const BestCell& other) const {
        const bool is_other = other.value > one.value || (other.value == one.value && other.cell < one.cell);
        return is_other ? other : one;
    }
};

inline constexpr int threads_of_a_peak = 128;

// One block per row, starting at `first`, and per offset. `maps` starts at row pairs.first_row.
__global__ void __launch_bounds__(threads_of_a_peak)
    find_peaks(CoarsePairs pairs, std::int64_t first, const float* maps, CoarsePeak* peaks) {
    __shared__ BestCell shared[32];
    const int offset = static_cast<int>(blockIdx.x) % pairs.offsets;
    const std::int64_t row = first + blockIdx.x / pairs.offsets, y = pairs.first_y + offset;
    const RowRun run = pairs.strips.of(row, y);
    if (run.count() == 0) {
        if (threadIdx.x == 0) peaks[blockIdx.x] = CoarsePeak{};
        return;
    }
    const std::int64_t between = std::int64_t{pairs.offsets} * pairs.map.cells();
    const float* of_first = maps + (run.first - pairs.first_row) * between + std::int64_t{offset} * pairs.map.cells();
    const StripMap strip{of_first, between, pairs.strips, run, y};
    BestCell best{-1, 0};
    for (int cell = static_cast<int>(threadIdx.x); cell < pairs.map.cells(); cell += threads_of_a_peak) {
        const float value = strip(cell);
        if (value > best.value) best = {value, cell};
    }
    best = over_block(best, BetterCell{}, shared);
    __syncthreads();
    BestCell second{-1, 0};
    for (int cell = static_cast<int>(threadIdx.x); cell < pairs.map.cells(); cell += threads_of_a_peak) {
        if (!pairs.map.is_apart(cell, best.cell)) continue;
        const float value = strip(cell);
        if (value > second.value) second = {value, cell};
    }
    second = over_block(second, BetterCell{}, shared);
    if (threadIdx.x == 0) peaks[blockIdx.x] = pairs.map.peak(strip, best.cell, best.value, second.value);
}

// Fine planes of two volumes, [row][a_scan][depth].
struct FinePairs {
    const float *moving, *reference;
    int depth, a_scans;
    StripRows strips;
};

inline constexpr int threads_of_a_match = 256, a_scans_of_a_match = 32;

// blockIdx.x: the request, blockIdx.y: a part of the A-scans. sums[asked][part][x][z].
__global__ void __launch_bounds__(threads_of_a_match)
    correlate_about(FinePairs pairs, const CorrelationRequest* requests, float* sums) {
    constexpr int edge = CorrelationRequest::edge, reach = CorrelationRequest::reach;
    __shared__ float shared[32];
    const CorrelationRequest asked = requests[blockIdx.x];
    const RowRun run = pairs.strips.of(asked.row, asked.y);
    const int first_a = static_cast<int>(blockIdx.y) * a_scans_of_a_match,
              end_a = min(first_a + a_scans_of_a_match, pairs.a_scans);
    const std::int64_t of_row = std::int64_t{pairs.a_scans} * pairs.depth;
    float found[edge][edge] = {};  // [x][z]
    for (std::int64_t t = run.first; t < run.end; ++t) {
        const float weight = pairs.strips.weight(t, asked.y, run.count());
        const float* moving = pairs.moving + t * of_row;
        const float* reference = pairs.reference + (t + asked.y) * of_row;
        for (int z = static_cast<int>(threadIdx.x); z < pairs.depth; z += threads_of_a_match) {
            float before[edge] = {};  // moving volume, at the A-scan that each shift pairs with the reference
            for (int a = first_a - reach; a < end_a + reach; ++a) {
#pragma unroll
                for (int i = edge - 1; i > 0; --i) before[i] = before[i - 1];
                const int own = a + reach;  // paired with shift -reach
                before[0] = own >= first_a && own < end_a
                                ? weight * moving[static_cast<std::int64_t>(own) * pairs.depth + z]
                                : 0;
                const int line = a + asked.x;
                if (line < 0 || line >= pairs.a_scans) continue;
                const float* of_line = reference + static_cast<std::int64_t>(line) * pairs.depth;
#pragma unroll
                for (int k = 0; k < edge; ++k) {
                    const int there = z + asked.z + k - reach;
                    const float value = there >= 0 && there < pairs.depth ? of_line[there] : 0;
#pragma unroll
                    for (int i = 0; i < edge; ++i) found[i][k] += value * before[i];
                }
            }
        }
    }
    float* to = sums + (static_cast<std::int64_t>(blockIdx.x) * gridDim.y + blockIdx.y) * (edge * edge);
#pragma unroll
    for (int i = 0; i < edge; ++i) {
#pragma unroll
        for (int k = 0; k < edge; ++k) {
            const float sum = over_block(found[i][k], Sum{}, shared);
            __syncthreads();
            if (threadIdx.x == 0) to[i * edge + k] = sum;
        }
    }
}

// Adds the parts of the A-scans in order.
__global__ void __launch_bounds__(threads_of_a_range)
    add_parts(const float* sums, std::int64_t count, int parts, float* to) {
    constexpr int values = CorrelationRequest::edge * CorrelationRequest::edge;
    const std::int64_t i = element();
    if (i >= count * values) return;
    float sum = 0;
    for (int part = 0; part < parts; ++part) sum += sums[(i / values * parts + part) * values + i % values];
    to[i] = sum;
}

// ---- Kernels that add registered B-scans at their position: coefficients of cubic B-splines in depth and along
// A-scans, and sums of their values at shifted positions. Planes are [row][a_scan][depth].

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
