// A single kernel from raw samples to voxels, to depth bins, or to both: subtract, resample, weight, transform, power,
// quantity, code, store. A group of threads processes two or four neighbouring lines of a B-scan together (line forms
// below).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compute/cuda/k_points.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/line_pairs.cuh"
#include "compute/cuda/line_pairs.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/point_values.cuh"
#include "compute/cuda/target.h"
#include "compute/cuda/transform.cuh"
#include "compute/cuda/transform.h"
#include "compute/cuda/voxels.cuh"
#include "compute/indexing.h"
#include "compute/plan/tables.h"

namespace echolux::cuda {

// ---- How neighbouring lines pass through the transform of transform.cuh: two side by side in floats; four in halves;
// or, for real weights of the k grid, four as two complex lines side by side, each with one line as real and another as
// imaginary part. Every table access serves all of them.

// For transforms side by side. Calls use(bin, point) for the bins on one side of zero delay.
template <class Size, class Point, class Factor, class Use>
__device__ inline void last_stage_side_by_side(const Point* exchange, const Factor* twiddles, int t, const Use& use) {
    constexpr int radix = Size::last_radix;
#pragma unroll
    for (int i = 0; i < 16 / radix; ++i) {
        const int k = t + i * Size::threads;
        Point v[radix];
        last_butterfly<Size>(exchange, v, twiddles, k);
#pragma unroll
        for (int m = 0; m < radix / 2; ++m) use(k + m * (Size::n / radix), v[m]);
    }
}

// Interpolates both lines from four of their samples and subtracts their background.
__device__ inline float2 interpolated(const float2 (&x)[4], const float (&w)[4], float minus_background) {
    return {fmaf(w[3], x[3].x, fmaf(w[2], x[2].x, fmaf(w[1], x[1].x, fmaf(w[0], x[0].x, minus_background)))),
            fmaf(w[3], x[3].y, fmaf(w[2], x[2].y, fmaf(w[1], x[1].y, fmaf(w[0], x[0].y, minus_background))))};
}

// Two lines in floats, each with its own complex transform.
struct SideBySide {
    static constexpr int lines = 2;
    using Point = ComplexPair;
    using Factor = float2;
    template <class Word>
    using Words = AsRecorded<Word>;

    template <class Size>
    static constexpr int min_blocks(int block) {  // per multiprocessor
        return block > 128 ? 512 / block : 5;
    }

    // Returns point j of the k grid, resampled and weighted. `base` belongs to the point.
    template <class Taps>
    __device__ static Point resampled(float4 point, const std::uint16_t* base, const Taps& taps, int j,
                                      const float2* spectra) {
        const float2* first = spectra + __ldg(base);
        const float2 x[] = {first[0], first[1], first[2], first[3]};
        float w[4];
        taps(j, point.x, w);
        const float2 value = interpolated(x, w, point.y);
        return {{value.x * point.z, value.x * point.w}, {value.y * point.z, value.y * point.w}};
    }

    // Runs the last stage and calls use(line, bin, value) for the bins on one side of zero delay.
    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const Factor* twiddles, int t, const Use& use) {
        last_stage_side_by_side<Size>(exchange, twiddles, t, [&](int bin, const Point& point) {
            use(0, bin, point.a);
            use(1, bin, point.b);
        });
    }
};

// Four lines in half precision.
struct Halves {
    static constexpr int lines = 4;
    using Point = HalfPairs;
    using Factor = HalfFactor;
    template <class Word>
    using Words = HalvesMinusWhole<Word>;

    template <class Size>
    static constexpr int min_blocks(int block) {
        return block > 128 ? 640 / block : 5;
    }

    // The table entry is a HalfPoint, which includes taps and base.
    template <class Taps>
    __device__ static Point resampled(float4 entry, const std::uint16_t*, const Taps&, int, const HalfQuad* spectra) {
        const auto& point = reinterpret_cast<const HalfPoint&>(entry);
        const HalfQuad* x = spectra + point.base;
        const HalfQuad x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
        const auto weighed = [&](__half2 s0, __half2 s1, __half2 s2, __half2 s3) -> HalfPair {
            __half2 value = __hfma2(__low2half2(point.taps[0]), s0, __half2half2(point.minus_rest));
            value = __hfma2(__high2half2(point.taps[0]), s1, value);
            value = __hfma2(__low2half2(point.taps[1]), s2, value);
            value = __hfma2(__high2half2(point.taps[1]), s3, value);
            return {__hmul2(value, __low2half2(point.weight)), __hmul2(value, __high2half2(point.weight))};
        };
        return {weighed(x0.ab, x1.ab, x2.ab, x3.ab), weighed(x0.cd, x1.cd, x2.cd, x3.cd)};
    }

    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const Factor* twiddles, int t, const Use& use) {
        last_stage_side_by_side<Size>(exchange, twiddles, t, [&](int bin, const Point& point) {
            use(0, bin, first_of(point.ab));
            use(1, bin, second_of(point.ab));
            use(2, bin, first_of(point.cd));
            use(3, bin, second_of(point.cd));
        });
    }

  private:
    __device__ static float2 first_of(HalfPair pair) { return {__low2float(pair.re), __low2float(pair.im)}; }
    __device__ static float2 second_of(HalfPair pair) { return {__high2float(pair.re), __high2float(pair.im)}; }
};

// Four lines as two complex transforms, for real weights. Separating the lines uses the symmetry of real spectra.
struct TwoInOne {
    static constexpr int lines = 4;
    using Point = ComplexPair;  // a + i b and c + i d
    using Factor = float2;
    template <class Word>
    using Words = PackedAsRecorded<Word>;

    template <class Size>
    static constexpr int min_blocks(int block) {
        return block > 128 ? 640 / block : 5;
    }

    template <class Taps>
    __device__ static Point resampled(float4 point, const std::uint16_t*, const Taps& taps, int j,
                                      const PackedQuad* spectra) {
        const PackedQuad* x = spectra + __float_as_int(point.w);
        const PackedQuad x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
        const float2 ab[] = {numbers(x0.ab), numbers(x1.ab), numbers(x2.ab), numbers(x3.ab)};
        const float2 cd[] = {numbers(x0.cd), numbers(x1.cd), numbers(x2.cd), numbers(x3.cd)};
        float w[4];
        taps(j, point.x, w);
        return {interpolated(ab, w, point.y) * point.z, interpolated(cd, w, point.y) * point.z};
    }

    // Butterflies of sixteen points leave too few registers for both transforms at once.
    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const float2* twiddles, int t, const Use& use) {
        if constexpr (Size::last_radix == 16) {
            const auto* parts = reinterpret_cast<const float2*>(exchange);
            last_stage_of<Size, float2>(SecondPoints{parts}, twiddles, t,
                                        [&](int bin, float2 z, float2 mirror) { both(use, 0, bin, z, mirror); });
            last_stage_of<Size, float2>(SecondPoints{parts + 1}, twiddles, t,
                                        [&](int bin, float2 z, float2 mirror) { both(use, 2, bin, z, mirror); });
        } else {
            last_stage_of<Size, Point>(exchange, twiddles, t, [&](int bin, Point z, Point mirror) {
                both(use, 0, bin, z.a, mirror.a);
                both(use, 2, bin, z.b, mirror.b);
            });
        }
    }

  private:
    // Every second point.
    struct SecondPoints {
        const float2* first;

        __device__ SecondPoints operator+(int i) const { return {first + 2 * i}; }
        __device__ float2 operator[](int i) const { return first[2 * i]; }
    };

    // A bin of either line needs the transform's bins k and n - k, so each thread processes both butterflies.
    template <class Size, class Value, class Points, class Use>
    __device__ static void last_stage_of(Points exchange, const float2* twiddles, int t, const Use& use) {
        constexpr int radix = Size::last_radix, step = Size::n / radix;
#pragma unroll
        for (int i = 0; i < (radix == 16 ? 1 : 8 / radix); ++i) {
            const int k = t + i * Size::threads, other = k == 0 ? step / 2 : step - k;
            if (k >= step / 2) return;
            Value u[radix], v[radix];
            last_butterfly<Size>(exchange, u, twiddles, k);
            last_butterfly<Size>(exchange, v, twiddles, other);
#pragma unroll
            for (int m = 0; m < radix / 2; ++m) {
                use(k + m * step, u[m], k == 0 ? u[(radix - m) % radix] : v[radix - 1 - m]);
                use(other + m * step, v[m], k == 0 ? v[radix - 1 - m] : u[radix - 1 - m]);
            }
        }
    }

    // Separates the real-part line and the imaginary-part line.
    template <class Use>
    __device__ static void both(const Use& use, int line, int bin, float2 z, float2 mirror) {
        use(line, bin, float2{z.x + mirror.x, z.y - mirror.y});
        use(line + 1, bin, float2{z.y + mirror.y, mirror.x - z.x});
    }
};

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
    static constexpr int groups = fused_groups(Transform::threads);  // per block
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
struct StoredBin {
    using Row = float2*;
    static constexpr bool has_voxels = false;

    __device__ static Row row(const FusedWork& work, std::byte*, std::int64_t line, int bins) {
        return work.bins + line * bins;
    }
    __device__ static void store(const FusedWork&, float2 value, Row row, int bin) { row[bin] = value; }
};

// The bin in half precision, scaled.
struct StoredHalfBin {
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

// ---- Launches the variant of the fused kernel for a length, a format and an output. Variants are compiled in several
// files to build in parallel.

// Returns the kernel for the words and taps of `work`. Only SideBySide has kernels for single samples and any taps.
template <int log2_n, class Form, class Voxel>
auto fused_variant(const FusedWork& work) {
    using U16 = typename Form::template Words<U16Words>;
    using Packed12 = typename Form::template Words<Packed12Words>;
    const bool is_u16 = work.words == LineWords::u16;
    auto variant =
        is_u16 ? fused<log2_n, U16, CubicTaps, Form, Voxel> : fused<log2_n, Packed12, CubicTaps, Form, Voxel>;
    if constexpr (std::is_same_v<Form, SideBySide>) {
        if (work.points.form == LineForm::subtracted) {
            variant = fused<log2_n, BySamples, EitherTaps, Form, Voxel>;
        } else if (work.points.taps != nullptr) {
            variant =
                is_u16 ? fused<log2_n, U16, TabledTaps, Form, Voxel> : fused<log2_n, Packed12, TabledTaps, Form, Voxel>;
        }
    }
    return variant;
}

template <class Form, class Voxel>
void launch_fused(const FusedWork& work, std::int64_t transform, cudaStream_t stream) {
    const auto shared = static_cast<int>(fused_bytes(transform, Form::lines, Voxel::has_voxels ? work.voxel_bytes : 0));
    void (*kernel)(FusedWork) = nullptr;
    unsigned groups_of_block = 1, threads = 1;
    with_transform_size(transform, [&](auto size) {
        using Size = FusedSize<size.log2_n>;
        kernel = fused_variant<Size::log2_n, Form, Voxel>(work);
        groups_of_block = Size::groups;
        threads = Size::block;
    });
    checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "request shared memory");
    const unsigned blocks = (work.groups<Form::lines>() + groups_of_block - 1) / groups_of_block;
    kernel<<<blocks, threads, index(shared), stream>>>(work);
    checked_launch("reconstruct in one kernel");
}

// Defined in fused_bins.cu and fused_packed.cu.
void launch_fused_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream);
void launch_fused_bytes_and_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream);
void launch_fused_bytes_and_half_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream);
void launch_fused_two_in_one(const FusedWork& work, bool bytes, std::int64_t transform, cudaStream_t stream);
void launch_fused_halves(const FusedWork& work, bool bytes, std::int64_t transform, cudaStream_t stream);

// ---- The fused kernel for lengths that are products of small numbers: the same steps with the transform of
// transform.cuh for them. Spectra and points have separate shared memory, so each thread only holds the operands of a
// butterfly. Voxels replace the spectra.

inline LineReading reading_of(const FusedWork& work) {
    if (work.words == LineWords::none) return LineReading::by_samples;
    const bool u16 = work.words == LineWords::u16;
    if (work.points.form == LineForm::as_recorded)
        return u16 ? LineReading::u16_as_recorded : LineReading::packed12_as_recorded;
    return u16 ? LineReading::u16_words : LineReading::packed12_words;
}

// Shared memory: `groups` exchange buffers, then for each group the spectra of two lines or the rows of their voxels.
template <class Length, class Taps, class Voxel>
__global__ void __launch_bounds__(Length::max_block, Length::min_blocks)
    fused_mixed(const __grid_constant__ FusedWork work, const __grid_constant__ MixedShape shape, LineReading reading) {
    using Form = SideBySide;
    using Point = Form::Point;
    extern __shared__ float4 shared[];
    const MixedRadix& length = shape.length;
    const int threads = Length::threads(shape);
    const int group = threadIdx.x / threads, t = threadIdx.x - group * threads;
    const NeighbourLines<2> own(work, blockIdx.x * shape.groups + group);
    Point* all = reinterpret_cast<Point*>(shared);
    Point* exchange = all + group * length.exchange_points;
    std::byte* rows =
        reinterpret_cast<std::byte*>(all + shape.groups * length.exchange_points) + group * shape.row_bytes * 2;
    auto* spectra = reinterpret_cast<float2*>(rows);

    read_lines(reading, own.spectra(work, t, threads), spectra);
    __syncthreads();
    const float4* points = own.points(work);
    const Taps taps(work.points.taps);
    first_stage(Length::first_stage(length), exchange, t, threads, [&](auto& v, int u, int step) {
        resample_lines<Form>(work.points, points, taps, spectra, v, u, step);
    });
    __syncthreads();
    Length::middle_stages(length, [&](const auto& stage) {
        middle_stage(stage, exchange, work.twiddles, t, threads);
        __syncthreads();
    });
    typename Voxel::Row bins[2];
    own.template rows<Voxel>(work, rows, shape.row_bytes, Length::n(length) / 2, bins);
    last_stage(Length::last_stage(length), Length::n(length), exchange, work.twiddles, t, threads,
               [&](int bin, const Point& value) {
                   Voxel::store(work, value.a, bins[0], bin);
                   Voxel::store(work, value.b, bins[1], bin);
               });
    if constexpr (!Voxel::has_voxels) return;
    __syncthreads();
    own.store(work, rows, shape.row_bytes, t, threads);
}

template <class Length, class Taps, class Voxel>
void launch_fused_mixed(const FusedWork& work, const MixedShape& shape, cudaStream_t stream) {
    const auto kernel = fused_mixed<Length, Taps, Voxel>;
    checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, max_shared_bytes()),
            "request shared memory");
    const auto groups = static_cast<std::uint32_t>(shape.groups);
    kernel<<<(work.groups<2>() + groups - 1) / groups, static_cast<unsigned>(shape.groups * shape.threads),
             index(shape.shared_bytes()), stream>>>(work, shape, reading_of(work));
    checked_launch("reconstruct in one kernel");
}

}  // namespace echolux::cuda
