// One kernel from raw samples to voxels, to depth bins, or to both: subtract, resample, weigh, transform, power,
// quantity, code, store. A group of
// threads works on two neighbouring lines of a B-scan at a time, so that every table entry that is fetched serves both.
// The transform is that of line_transform.cuh, of both lines at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/line_transform.cuh"
#include "compute/cuda/spectrum_pair.cuh"
#include "compute/cuda/target.h"
#include "compute/cuda/voxel_value.cuh"

namespace echolux::cuda {

struct FusedWork {
    // [transform], on the device; beyond the points of the k grid the weight is zero
    const int* base = nullptr;
    const float4* taps = nullptr;
    const float2* weight = nullptr;    // window x shaping x dispersion
    const float2* twiddles = nullptr;  // of all stages but the first, one after the other

    LineFormat format;
    const std::byte* raw = nullptr;
    int samples = 0;
    int frame_lines = 0;
    std::uint32_t pairs_per_frame = 0;
    std::uint32_t pairs = 0;
    DeviceBackground background;

    int depth_begin = 0;
    int depth = 0;
    bool depth_flip = false;
    float scale = 1;        // of the amplitude
    float power_scale = 1;  // its square
    VoxelValue value;
    VoxelCode code;
    DeviceTarget target;
    std::int64_t first_slice = 0;
    int first_recorded_slice = 0;  // counted from the target's first
    int voxel_bytes = 0;
    int store_bytes = 0;  // stored at a time, 1 to 16; those of a voxel where rows are reversed

    float2* bins = nullptr;  // [lines][all bins], not scaled, where they are kept
};

template <int log2_n>
struct FusedSize : TransformSize<log2_n> {
    using Transform = TransformSize<log2_n>;
    static constexpr int groups = Transform::threads < 128 ? 128 / Transform::threads : 1;  // of a block
    static constexpr int block = Transform::threads * groups;
    static constexpr int min_blocks = block > 128 ? 512 / block : 5;  // of a multiprocessor
    static constexpr int exchange_bytes = Transform::exchange_points * static_cast<int>(sizeof(ComplexPair));
};

// What the last stage makes of a bin, at its place in a row that holds every bin: `shared` is the row of voxels, `line`
// counts the lines of the work.
struct ByteVoxel {
    using Row = std::byte*;
    static constexpr bool has_voxels = true;

    __device__ static Row row(const FusedWork&, std::byte* shared, std::int64_t, int) { return shared; }
    __device__ static void store(const FusedWork& work, float2 value, Row row, int bin) {
        const ByteOfDecibel code{work.power_scale, {work.value.reference_db}, work.code.bytes};
        reinterpret_cast<std::uint8_t*>(row)[bin] = code(value);
    }
};

struct AnyVoxel {
    using Row = std::byte*;
    static constexpr bool has_voxels = true;

    __device__ static Row row(const FusedWork&, std::byte* shared, std::int64_t, int) { return shared; }
    __device__ static void store(const FusedWork& work, float2 value, Row row, int bin) {
        if (work.code.type == VoxelType::complex64) {
            reinterpret_cast<float2*>(row)[bin] = {value.x * work.scale, value.y * work.scale};
        } else {
            const int z = min(max(bin - work.depth_begin, 0), work.depth - 1);  // bins not kept have no noise floor
            work.code.store(work.value(Power{}(value.x, value.y) * work.power_scale, z), row, bin);
        }
    }
};

// The bin itself. Lines that two groups have are stored twice, as the same bits.
struct KeptBin {
    using Row = float2*;
    static constexpr bool has_voxels = false;

    __device__ static Row row(const FusedWork& work, std::byte*, std::int64_t line, int bins) {
        return work.bins + line * bins;
    }
    __device__ static void store(const FusedWork&, float2 value, Row row, int bin) { row[bin] = value; }
};

template <class Voxel>
struct VoxelAndBin {
    struct Row {
        typename Voxel::Row voxels;
        KeptBin::Row bins;
    };
    static constexpr bool has_voxels = true;

    __device__ static Row row(const FusedWork& work, std::byte* shared, std::int64_t line, int bins) {
        return {Voxel::row(work, shared, line, bins), KeptBin::row(work, shared, line, bins)};
    }
    __device__ static void store(const FusedWork& work, float2 value, Row row, int bin) {
        KeptBin::store(work, value, row.bins, bin);
        Voxel::store(work, value, row.voxels, bin);
    }
};

// Points t + i * step of both lines, resampled and weighed. Every table has four taps here.
__device__ inline void resample_pair(const FusedWork& work, const float2* spectra, ComplexPair (&v)[16], int t,
                                     int step) {
    const int* base = work.base + t;  // so that the compiler needs one address for all sixteen
    const float4* taps = work.taps + t;
    const float2* weights = work.weight + t;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const float2* x = spectra + __ldg(base + i * step);
        const float4 tap = __ldg(taps + i * step);
        const float2 weight = __ldg(weights + i * step);
        const float2 x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
        const float of_a = tap.x * x0.x + tap.y * x1.x + tap.z * x2.x + tap.w * x3.x;
        const float of_b = tap.x * x0.y + tap.y * x1.y + tap.z * x2.y + tap.w * x3.y;
        v[i] = {{of_a * weight.x, of_a * weight.y}, {of_b * weight.x, of_b * weight.y}};
    }
}

// Only the bins on one side of zero delay.
template <class Size, class Voxel>
__device__ inline void last_stage(const FusedWork& work, const ComplexPair* exchange, typename Voxel::Row row_a,
                                  typename Voxel::Row row_b, int t) {
    constexpr int radix = Size::last_radix;
#pragma unroll
    for (int i = 0; i < 16 / radix; ++i) {
        const int k = t + i * Size::threads;
        ComplexPair v[radix];
        last_butterfly<Size>(exchange, v, work.twiddles, k);
#pragma unroll
        for (int m = 0; m < radix / 2; ++m) {
            Voxel::store(work, v[m].a, row_a, k + m * (Size::n / radix));
            Voxel::store(work, v[m].b, row_b, k + m * (Size::n / radix));
        }
    }
}

// The kept voxels of a row, `Word` by `Word`.
template <class Word>
__device__ inline void store_row(const FusedWork& work, const std::byte* row, const TargetRow& target, int t,
                                 int threads) {
    constexpr int size = sizeof(Word);
    const auto* kept = reinterpret_cast<const Word*>(row) + work.depth_begin * work.voxel_bytes / size;
    const int count = work.depth * work.voxel_bytes / size;
#pragma unroll 1
    for (int i = t; i < count; i += threads) {
        target.store(i * size, kept[work.depth_flip ? count - 1 - i : i]);
    }
}

__device__ inline void store_row(const FusedWork& work, const std::byte* row, const TargetRow& target, int t,
                                 int threads) {
    switch (work.store_bytes) {
        case 16: return store_row<uint4>(work, row, target, t, threads);
        case 8: return store_row<uint2>(work, row, target, t, threads);
        case 4: return store_row<unsigned>(work, row, target, t, threads);
        case 2: return store_row<unsigned short>(work, row, target, t, threads);
        default: store_row<unsigned char>(work, row, target, t, threads);
    }
}

// Shared memory: `groups` exchanges, then two rows of voxels for each group where there are voxels.
template <int log2_n, class Source, class Voxel>
__global__ void __launch_bounds__(FusedSize<log2_n>::block, FusedSize<log2_n>::min_blocks)
    fused(const __grid_constant__ FusedWork work) {
    using Size = FusedSize<log2_n>;
    constexpr int n = Size::n, threads = Size::threads;
    extern __shared__ ComplexPair shared[];
    const int group = threadIdx.x / threads, t = threadIdx.x % threads;
    const std::uint32_t index = blockIdx.x * Size::groups + group;
    const std::uint32_t pair = min(index, work.pairs - 1);  // groups beyond the end keep the others company
    const std::uint32_t frame = pair / work.pairs_per_frame;
    const int line_a = 2 * static_cast<int>(pair - frame * work.pairs_per_frame);
    const int line_b = min(line_a + 1, work.frame_lines - 1);
    ComplexPair* exchange = shared + group * Size::exchange_points;
    const int row_bytes = n / 2 * work.voxel_bytes;
    std::byte* row_a =
        reinterpret_cast<std::byte*>(shared) + Size::groups * Size::exchange_bytes + 2 * group * row_bytes;
    std::byte* row_b = row_a + row_bytes;

    const std::int64_t line_bytes = work.format.line_bytes();
    const std::byte* raw = work.raw + std::int64_t{frame} * work.frame_lines * line_bytes;
    const std::int64_t row = work.background.frame_lines == 0 ? 0 : std::int64_t{frame} * work.samples;
    const auto recorded = [&](int line) {
        return work.target.recorded.mirrored(work.first_recorded_slice + static_cast<int>(frame), line);
    };
    Source::read({work.format, raw + recorded(line_a) * line_bytes, raw + recorded(line_b) * line_bytes,
                  work.background.whole + row, work.background.rest + row, work.samples, t, threads},
                 reinterpret_cast<float2*>(exchange));
    __syncthreads();
    {
        ComplexPair v[16];
        resample_pair(work, reinterpret_cast<const float2*>(exchange), v, t, threads);
        stages_before_last<Size>(exchange, v, work.twiddles, t);
    }
    const std::int64_t first_line = std::int64_t{frame} * work.frame_lines;
    last_stage<Size, Voxel>(work, exchange, Voxel::row(work, row_a, first_line + recorded(line_a), n / 2),
                            Voxel::row(work, row_b, first_line + recorded(line_b), n / 2), t);
    if constexpr (!Voxel::has_voxels) return;
    __syncthreads();
    if (index >= work.pairs) return;
    // Half of the threads store a line each.
    const int line = t < threads / 2 ? line_a : line_a + 1;
    if (line >= work.frame_lines) return;
    store_row(work, t < threads / 2 ? row_a : row_b, work.target.at(work.first_slice + frame, line), t % (threads / 2),
              threads / 2);
}

}  // namespace echolux::cuda
