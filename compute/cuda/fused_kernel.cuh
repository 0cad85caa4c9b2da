// One kernel from raw samples to voxels, to depth bins, or to both: subtract, resample, weigh, transform, power,
// quantity, code, store. A group of
// threads works on two neighbouring lines of a B-scan at a time, so that every table entry that is fetched serves both.
// Sixteen points of each line stay in a thread's registers; between the stages of the transform (radix 16, then what is
// left: Stockham's order, so bins come out in natural order) they change places through shared memory, padded so that
// no two threads of a quarter warp meet in a bank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/butterflies.cuh"
#include "compute/cuda/line_method.h"
#include "compute/cuda/spectrum_pair.cuh"
#include "compute/cuda/target.h"
#include "compute/cuda/twiddles.h"
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
struct FusedSize {
    static constexpr int n = 1 << log2_n;
    static constexpr int threads = n / 16;                            // of a group
    static constexpr int groups = threads < 128 ? 128 / threads : 1;  // of a block
    static constexpr int block = threads * groups;
    static constexpr int least_blocks = block > 128 ? 512 / block : 5;  // of a multiprocessor
    static constexpr bool four_stages = log2_n == 13;
    static constexpr int last_radix = four_stages ? 2 : n / 256;
    static constexpr int exchange_bytes = (n + n / 16) * static_cast<int>(sizeof(float4));
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
__device__ inline void resample_pair(const FusedWork& work, const float2* spectra, float2 (&a)[16], float2 (&b)[16],
                                     int t, int step) {
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
        a[i] = {of_a * weight.x, of_a * weight.y};
        b[i] = {of_b * weight.x, of_b * weight.y};
    }
}

__device__ inline int padded(int i) {
    return i + (i >> 4);
}

// Results of butterfly t of a stage before which sub-transforms had `length` bins, to where the next stage wants them:
// (t / length) * length * radix + t % length + i * length.
template <int length, int radix>
__device__ inline void put(float4* exchange, const float2 (&a)[radix], const float2 (&b)[radix], int t) {
    float4* first = exchange + padded(t / length * (length * radix) + t % length);
    constexpr int step = length == 1 ? 1 : length / 16 * 17;
#pragma unroll
    for (int i = 0; i < radix; ++i) first[i * step] = {a[i].x, a[i].y, b[i].x, b[i].y};
}

// Operands t + i * n / radix of butterfly t.
template <int n, int radix>
__device__ inline void get(const float4* exchange, float2 (&a)[radix], float2 (&b)[radix], int t) {
    const float4* first = exchange + padded(t);
    constexpr int step = n / radix / 16 * 17;
#pragma unroll
    for (int i = 0; i < radix; ++i) {
        const float4 both = first[i * step];
        a[i] = make_float2(both.x, both.y);
        b[i] = make_float2(both.z, both.w);
    }
}

// a[i] *= w^i, b[i] *= w^i; `rows` holds powers of this butterfly's w, `stride` apart (twiddles.h).
template <int radix>
__device__ inline void twiddle(float2 (&a)[radix], float2 (&b)[radix], const float2* rows, int stride) {
    const auto times = [&](int i, float2 w) {
        a[i] = a[i] * w;
        b[i] = b[i] * w;
    };
    float2 first[4];
#pragma unroll
    for (int i = 1; i < 4 && i < radix; ++i) {
        first[i] = __ldg(rows + (i - 1) * stride);
        times(i, first[i]);
    }
#pragma unroll
    for (int q = 1; q < radix / 4; ++q) {
        const float2 fourth = __ldg(rows + (2 + q) * stride);
        times(4 * q, fourth);
#pragma unroll
        for (int i = 1; i < 4; ++i) times(4 * q + i, fourth * first[i]);
    }
}

// A stage of radix 16 after one that ended with `length` bins.
template <int n, int length>
__device__ inline void middle_stage(float4* exchange, float2 (&a)[16], float2 (&b)[16], const float2* twiddles, int t) {
    get<n>(exchange, a, b, t);
    twiddle<16>(a, b, twiddles + t % length, length);
    transform(a);
    transform(b);
    __syncthreads();
    put<length>(exchange, a, b, t);
    __syncthreads();
}

template <int n, int radix, class Voxel>
__device__ inline void last_stage(const FusedWork& work, const float4* exchange, const float2* twiddles,
                                  typename Voxel::Row row_a, typename Voxel::Row row_b, int t) {
#pragma unroll
    for (int i = 0; i < 16 / radix; ++i) {
        const int k = t + i * (n / 16);
        float2 a[radix], b[radix];
        get<n>(exchange, a, b, k);
        twiddle<radix>(a, b, twiddles + k, n / radix);
        transform(a);
        transform(b);
#pragma unroll
        for (int m = 0; m < radix / 2; ++m) {  // the other half lies beyond zero delay
            Voxel::store(work, a[m], row_a, k + m * (n / radix));
            Voxel::store(work, b[m], row_b, k + m * (n / radix));
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
__global__ void __launch_bounds__(FusedSize<log2_n>::block, FusedSize<log2_n>::least_blocks)
    fused(const __grid_constant__ FusedWork work) {
    using Size = FusedSize<log2_n>;
    constexpr int n = Size::n, threads = Size::threads;
    extern __shared__ float4 shared[];
    const int group = threadIdx.x / threads, t = threadIdx.x % threads;
    const std::uint32_t index = blockIdx.x * Size::groups + group;
    const std::uint32_t pair = min(index, work.pairs - 1);  // groups beyond the end keep the others company
    const std::uint32_t frame = pair / work.pairs_per_frame;
    const int line_a = 2 * static_cast<int>(pair - frame * work.pairs_per_frame);
    const int line_b = min(line_a + 1, work.frame_lines - 1);
    float4* exchange = shared + group * (Size::exchange_bytes / static_cast<int>(sizeof(float4)));
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
        float2 a[16], b[16];
        resample_pair(work, reinterpret_cast<const float2*>(exchange), a, b, t, threads);
        transform(a);
        transform(b);
        __syncthreads();
        put<1>(exchange, a, b, t);
        __syncthreads();
        const float2* twiddles = work.twiddles;
        middle_stage<n, 16>(exchange, a, b, twiddles, t);
        if constexpr (Size::four_stages) middle_stage<n, 256>(exchange, a, b, twiddles + twiddle_rows(16) * 16, t);
    }
    constexpr int used = twiddle_rows(16) * (Size::four_stages ? 16 + 256 : 16);
    const std::int64_t first_line = std::int64_t{frame} * work.frame_lines;
    last_stage<n, Size::last_radix, Voxel>(work, exchange, work.twiddles + used,
                                           Voxel::row(work, row_a, first_line + recorded(line_a), n / 2),
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
