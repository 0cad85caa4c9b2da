// Kernels that correlate B-scans (docs/tissue.md): for all coarse shifts of pairs of B-scans, using sums in shared
// memory that are combined to maps of strips and their peaks; and fine correlations around given positions.
#pragma once

#include <cstdint>

#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

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
    correlate_about(FinePairs pairs, const CorrelationsAsked* all_asked, float* sums) {
    constexpr int edge = CorrelationsAsked::edge, reach = CorrelationsAsked::reach;
    __shared__ float shared[32];
    const CorrelationsAsked asked = all_asked[blockIdx.x];
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
    constexpr int values = CorrelationsAsked::edge * CorrelationsAsked::edge;
    const std::int64_t i = element();
    if (i >= count * values) return;
    float sum = 0;
    for (int part = 0; part < parts; ++part) sum += sums[(i / values * parts + part) * values + i % values];
    to[i] = sum;
}

}  // namespace echolux::cuda
