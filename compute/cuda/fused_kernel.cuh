// A single kernel from raw samples to voxels, to depth bins, or to both: subtract, resample, weight, transform, power,
// quantity, code, store. A group of threads processes two or four neighbouring lines of a B-scan together
// (line_forms.cuh).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compute/cuda/k_point_taps.cuh"
#include "compute/cuda/k_points.h"
#include "compute/cuda/line_forms.cuh"
#include "compute/cuda/line_method.h"
#include "compute/cuda/line_words.h"
#include "compute/cuda/peaks.cuh"
#include "compute/cuda/spectrum_pair.cuh"
#include "compute/cuda/target.h"
#include "compute/cuda/voxel_value.cuh"

namespace echolux::cuda {

// Arguments of the fused kernel. Passed by value as a grid constant.
struct FusedWork {
    KPoints points;                             // points of the first B-scan
    const float2* twiddles = nullptr;           // factors of all stages but the first, one stage after another
    const HalfFactor* half_twiddles = nullptr;  // the same for LineForm::halves

    LineFormat format;
    const std::byte* raw = nullptr;
    LineWords words = LineWords::none;  // word format of the lines, if any
    int samples = 0;
    int frame_lines = 0;
    std::uint32_t frames = 0;
    DeviceBackground background;

    int depth_begin = 0;
    int depth = 0;
    bool depth_flip = false;
    float scale = 1;        // amplitude factor
    float power_scale = 1;  // its square
    VoxelValue value;
    VoxelCode code;
    ByteOfDecibel byte;
    DeviceTarget target;
    std::int64_t first_slice = 0;
    int first_recorded_slice = 0;  // relative to the target's first slice
    int voxel_bytes = 0;
    int store_bytes = 0;  // bytes per store, 1 to 16; those of a voxel if rows are reversed
    VoxelType voxel = VoxelType::u8;
    bool peaks_of_16 = false;  // peaks are computed from sixteen-byte stores, otherwise from the row

    float2* bins = nullptr;  // [lines][all bins], unscaled, if kept
    HalfBin* half_bins = nullptr;
    float half_bin_scale = 1;

    // Groups of `lines` neighbouring lines. The last group of a B-scan may be incomplete.
    template <int lines>
    ECHOLUX_HD std::uint32_t groups_per_frame() const {
        return (static_cast<std::uint32_t>(frame_lines) + lines - 1) / lines;
    }
    template <int lines>
    ECHOLUX_HD std::uint32_t groups() const {
        return frames * groups_per_frame<lines>();
    }

    template <class Form>
    __device__ const typename Form::Factor* twiddles_of() const {
        if constexpr (std::is_same_v<typename Form::Factor, HalfFactor>) {
            return half_twiddles;
        } else {
            return twiddles;
        }
    }
};

// Thread block of a length: several groups share a block if a line needs fewer than 128 threads.
template <int log2_n>
struct FusedSize : TransformSize<log2_n> {
    using Transform = TransformSize<log2_n>;
    static constexpr int groups = Transform::threads < 128 ? 128 / Transform::threads : 1;  // per block
    static constexpr int block = Transform::threads * groups;
};

// Output of the last stage for a bin. `shared` has space for every bin, `line` counts the lines of the work.
struct ByteVoxel {
    using Row = std::byte*;
    static constexpr bool has_voxels = true;

    __device__ static Row row(const FusedWork&, std::byte* shared, std::int64_t, int) { return shared; }
    __device__ static void store(const FusedWork& work, float2 value, Row row, int bin) {
        reinterpret_cast<std::uint8_t*>(row)[bin] = work.byte(value);
    }
};

// Voxels of any type and quantity.
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

// Stores the bin itself. Lines shared by two groups are stored twice with the same bits.
struct KeptBin {
    using Row = float2*;
    static constexpr bool has_voxels = false;

    __device__ static Row row(const FusedWork& work, std::byte*, std::int64_t line, int bins) {
        return work.bins + line * bins;
    }
    __device__ static void store(const FusedWork&, float2 value, Row row, int bin) { row[bin] = value; }
};

// The bin in half precision, scaled.
struct KeptHalfBin {
    using Row = HalfBin*;

    __device__ static Row row(const FusedWork& work, std::byte*, std::int64_t line, int bins) {
        return work.half_bins + line * bins;
    }
    __device__ static void store(const FusedWork& work, float2 value, Row row, int bin) {
        row[bin] = {__floats2half2_rn(value.x * work.half_bin_scale, value.y * work.half_bin_scale)};
    }
};

// Both a voxel and a bin.
template <class Voxel, class Bin>
struct VoxelAndBin {
    struct Row {
        typename Voxel::Row voxels;
        typename Bin::Row bins;
    };
    static constexpr bool has_voxels = true;

    __device__ static Row row(const FusedWork& work, std::byte* shared, std::int64_t line, int bins) {
        return {Voxel::row(work, shared, line, bins), Bin::row(work, shared, line, bins)};
    }
    __device__ static void store(const FusedWork& work, float2 value, Row row, int bin) {
        Bin::store(work, value, row.bins, bin);
        Voxel::store(work, value, row.voxels, bin);
    }
};

// Computes points t + i * step of all lines, resampled and weighted. `row` holds the points of their B-scan.
template <class Form, int count, class Taps, class Sample>
__device__ inline void resample_lines(const KPoints& points, const float4* row, Taps taps, const Sample* spectra,
                                      typename Form::Point (&v)[count], int t, int step) {
    const float4* at = row + t;  // a single address suffices for all of them
    const std::uint16_t* base = points.base + t;
#pragma unroll
    for (int i = 0; i < count; ++i) {
        v[i] = Form::resampled(__ldg(at + i * step), base + i * step, taps, t + i * step, spectra);
    }
}

// Stores the kept voxels of a row, one `Word` at a time.
template <class Word>
__device__ inline void store_row(const FusedWork& work, const std::byte* row, const TargetRow& target, int t,
                                 int threads) {
    constexpr int size = sizeof(Word);
    const auto* kept = reinterpret_cast<const Word*>(row) + work.depth_begin * work.voxel_bytes / size;
    const int count = work.depth * work.voxel_bytes / size;
#pragma unroll 1
    for (int i = t; i < count; i += threads) {
        const Word codes = kept[work.depth_flip ? count - 1 - i : i];
        target.store(i * size, codes);
        if constexpr (size == 16) {
            if (work.peaks_of_16) store_peaks_of_16(codes, target.peaks, work.target.depths_of_a_peak, i);
        }
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

// The neighbouring lines of a B-scan processed by a group of threads. Surplus groups repeat the last one so that all
// threads reach the barriers.
template <int count>
class NeighbourLines {
  public:
    __device__ NeighbourLines(const FusedWork& work, std::uint32_t index) : exists_(index < work.groups<count>()) {
        const std::uint32_t per_frame = work.groups_per_frame<count>();
        const std::uint32_t group = min(index, work.groups<count>() - 1);
        frame_ = group / per_frame;
        first_ = count * static_cast<int>(group - frame_ * per_frame);
    }

    __device__ LineSet<count> spectra(const FusedWork& work, int t, int threads) const {
        const std::int64_t line_bytes = work.format.line_bytes();
        const std::byte* raw = work.raw + std::int64_t{frame_} * work.frame_lines * line_bytes;
        const std::int64_t row = work.background.frame_lines == 0 ? 0 : std::int64_t{frame_} * work.samples;
        LineSet<count> lines{work.format, {},     work.background.whole + row, work.background.rest + row, work.samples,
                             t,           threads};
#pragma unroll
        for (int l = 0; l < count; ++l) lines.line[l] = raw + recorded(work, line(work, l)) * line_bytes;
        return lines;
    }

    __device__ const float4* points(const FusedWork& work) const {
        return work.points.points + std::int64_t{frame_} * work.points.row;
    }

    // Returns the output rows of the lines, with `n` bins each. `shared` holds rows of voxels, `row_bytes` each.
    template <class Voxel>
    __device__ void rows(const FusedWork& work, std::byte* shared, int row_bytes, int n,
                         typename Voxel::Row (&rows)[count]) const {
#pragma unroll
        for (int l = 0; l < count; ++l) {
            const std::int64_t at = std::int64_t{frame_} * work.frame_lines + recorded(work, line(work, l));
            rows[l] = Voxel::row(work, shared + l * row_bytes, at, n);
        }
    }

    // Stores their voxels. The threads are divided among the lines.
    __device__ void store(const FusedWork& work, const std::byte* rows, int row_bytes, int t, int threads) const {
        const int share = threads / count, own = t / share, of_line = t - own * share, line = first_ + own;
        if (!exists_ || line >= work.frame_lines || own >= count) return;
        const std::byte* stored = rows + own * row_bytes;
        const TargetRow target = work.target.at(work.first_slice + frame_, line);
        store_row(work, stored, target, of_line, share);
        if (target.peaks == nullptr || work.peaks_of_16) return;
        store_row_peaks(work.voxel, stored + work.depth_begin * work.voxel_bytes, work.depth, work.depth_flip,
                        target.peaks, work.target.depths_of_a_peak, of_line, share);
    }

  private:
    __device__ int line(const FusedWork& work, int l) const {
        return min(first_ + l, work.frame_lines - 1);
    }
    __device__ int recorded(const FusedWork& work, int line) const {
        return work.target.recorded.mirrored(work.first_recorded_slice + static_cast<int>(frame_), line);
    }

    bool exists_;
    std::uint32_t frame_;
    int first_;
};

// Shared memory: `groups` exchange buffers, then the voxel rows of each group, if any.
template <int log2_n, class Source, class Taps, class Form, class Voxel>
__global__ void __launch_bounds__(FusedSize<log2_n>::block,
                                  Form::template min_blocks<FusedSize<log2_n>>(FusedSize<log2_n>::block))
    fused(const __grid_constant__ FusedWork work) {
    using Size = FusedSize<log2_n>;
    using Point = typename Form::Point;
    constexpr int n = Size::n, threads = Size::threads, lines = Form::lines;
    extern __shared__ float4 shared[];
    const int group = threadIdx.x / threads, t = threadIdx.x % threads;
    const NeighbourLines<lines> own(work, blockIdx.x * Size::groups + group);
    Point* exchange = reinterpret_cast<Point*>(shared) + group * Size::exchange_points;
    const int row_bytes = n / 2 * work.voxel_bytes;
    std::byte* rows =
        reinterpret_cast<std::byte*>(reinterpret_cast<Point*>(shared) + Size::groups * Size::exchange_points) +
        lines * group * row_bytes;

    auto* spectra = reinterpret_cast<typename Source::Sample*>(exchange);
    const typename Form::Factor* twiddles = work.twiddles_of<Form>();
    Source::read(own.spectra(work, t, threads), spectra);
    __syncthreads();
    {
        Point v[16];
        resample_lines<Form>(work.points, own.points(work), Taps(work.points.taps), spectra, v, t, threads);
        stages_before_last<Size>(exchange, v, twiddles, t);
    }
    typename Voxel::Row bins[lines];
    own.template rows<Voxel>(work, rows, row_bytes, n / 2, bins);
    Form::template last_stage<Size>(
        exchange, twiddles, t, [&](int line, int bin, float2 value) { Voxel::store(work, value, bins[line], bin); });
    if constexpr (!Voxel::has_voxels) return;
    __syncthreads();
    own.store(work, rows, row_bytes, t, threads);
}

}  // namespace echolux::cuda
