// Kernels of the complete surface search except its sweeps (docs/layers.md): mean profiles of blocks, their cuts, block
// maps, and postprocessing of boundaries. They sum in the CPU's order and without fused multiply-adds, so that the bits
// agree (boundaries.cu is compiled accordingly). Lines are [b_scan][a_scan].
#pragma once

#include <cstdint>

#include "compute/cuda/boundaries.cuh"
#include "compute/cuda/launch.h"
#include "compute/steps/layers.h"

namespace echolux::cuda {

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
    const bool has_tissue = rows_of_a_bin * bright >= least_signal_rows;
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
    find_signal(LayerVolume volume, float level, double least_bright, std::uint8_t* has_signal) {
    const std::int64_t line = element() / 32;
    if (line >= volume.lines()) return;
    int bright = 0;
    for (int z = static_cast<int>(threadIdx.x) % 32; z < volume.depth; z += 32)
        bright += volume.line(line)[z] > level ? 1 : 0;
    for (int apart = 16; apart > 0; apart /= 2) bright += __shfl_xor_sync(all_lanes, bright, apart);
    if (threadIdx.x % 32 == 0) has_signal[line] = static_cast<double>(bright) >= least_bright ? 1 : 0;
}

// All results of boundaries, [boundary][line].
struct SurfaceMaps {
    std::int32_t* rows;
    float *places, *quality;
    Reason* reasons;
    const WantedRows* wanted;
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
        const SweptPlace place{labels[i], is_ambiguous[i], volume.has_signal[i % maps.lines]};
        is_at_end = place.is_at_end();
        maps.rows[i] += place.rows_down();
        maps.reasons[i] = place.reason();
    }
    const unsigned here = __ballot_sync(all_lanes, is_at_end);
    if (here != 0 && threadIdx.x % 32 == 0) atomicAdd(at_ends, static_cast<unsigned long long>(__popc(here)));
}

// sides[above, below][boundary][line]. blockIdx.y: the boundary.
__global__ void __launch_bounds__(threads_of_a_range)
    find_sides(LayerVolume volume, PresentRows present, float* sides, std::uint8_t* is_told) {
    const std::int64_t line = element();
    if (line >= volume.lines()) return;
    const int k = static_cast<int>(blockIdx.y);
    const std::int64_t at = k * volume.lines() + line;
    BoundarySides found;
    if (volume.has_signal[line] != 0) found = BoundarySides::of(present.of(line), k, volume.line(line));
    sides[at] = found.above;
    sides[present.boundaries * volume.lines() + at] = found.below;
    is_told[at] = found.is_told ? 1 : 0;
}

__global__ void __launch_bounds__(threads_of_a_range)
    mark_doubtful(LayerVolume volume, SurfaceMaps maps, const float* sides, const std::uint8_t* is_told, float margin,
                  double floor) {
    const std::int64_t line = element();
    if (line >= maps.lines) return;
    const LineOfSurfaces of_line = maps.of(line);
    const float *above = sides + line, *below = above + maps.boundaries * maps.lines;
    for (int k = 0; k < maps.boundaries; ++k) {
        const std::int64_t at = k * maps.lines;
        of_line.mark_weak(k, is_told[line + at] != 0 ? BoundarySides::contrast_db(above[at], below[at], margin)
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
        if (weight > least_weight_of_a_mean) maps.places[k * maps.lines + line] = sums[k * maps.lines + line] / weight;
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
