// NUFFT of two lines by one thread block: from raw samples to depth bins or byte codes. In floats or, for codes with a
// small error, in halves.
#pragma once

#include <type_traits>

#include "compute/cuda/k_points.h"
#include "compute/cuda/line_pairs.cuh"
#include "compute/cuda/memory.h"
#include "compute/cuda/point_values.cuh"
#include "compute/cuda/transform.cuh"
#include "compute/cuda/transform.h"
#include "compute/cuda/voxels.cuh"
#include "compute/indexing.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {

// ---- Interface of the kernel: its arguments, and its launches, each of which is in its own file.

// Arguments of the kernel. Passed by value as a grid constant.
struct NufftWork {
    const std::int32_t* base = nullptr;
    const float2* weights = nullptr;
    const __half2* half_weights = nullptr;  // scaled by a power of two
    float of_half_bins = 1;                 // factor that undoes the scale of half bins
    int taps = 0;
    int repeated = 0;
    const float2* twiddles = nullptr;
    const HalfFactor* half_twiddles = nullptr;
    const float* correction = nullptr;
    const float4* factors = nullptr;

    PairedLines lines;

    int first_bin = 0;
    int depth = 0;
    float2* bins = nullptr;  // [lines][depth]; null: the output is codes
    ByteCodes codes;
};

// Words of 16-bit samples per thread and line, for kernels that read words. Applies to spectra as long as the k grid
// with a finer grid of twice that length, of which each thread holds 16 points.
constexpr int nufft_words = 8;

void launch_nufft(const NufftWork& work, std::int64_t points, bool real, cudaStream_t stream);

// For grids of any length with a shape.
void launch_nufft_mixed(const NufftWork& work, const MixedShape& shape, bool real, cudaStream_t stream);

// For lines that can be read by words.
void launch_nufft_halves(const NufftWork& work, std::int64_t points, bool real, cudaStream_t stream);

// Single precision.
struct NufftFloats {
    using Sample = float2;
    using Point = ComplexPair;
    using Weight = float2;
    using Factor = float2;
    static constexpr int warps = 16;  // per multiprocessor

    __device__ static const Weight* weights(const NufftWork& work) { return work.weights; }
    __device__ static const Factor* twiddles(const NufftWork& work) { return work.twiddles; }
    __device__ static Weight loaded_weight(const Weight* weight) { return __ldg(weight); }
    __device__ static void add(Point& sum, Weight weight, Sample sample) {
        sum = sum + ComplexPair{{weight.x * sample.x, weight.y * sample.x}, {weight.x * sample.y, weight.y * sample.y}};
    }
    __device__ static ComplexPair bins(const NufftWork&, Point point) { return point; }
};

// Half precision: each instruction processes both lines.
struct NufftHalves {
    using Sample = __half2;
    using Point = HalfPair;
    using Weight = __half2;
    using Factor = HalfFactor;
    static constexpr int warps = 24;

    __device__ static const Weight* weights(const NufftWork& work) { return work.half_weights; }
    __device__ static const Factor* twiddles(const NufftWork& work) { return work.half_twiddles; }
    __device__ static Weight loaded_weight(const Weight* weight) { return __ldg(weight); }
    __device__ static void add(Point& sum, Weight weight, Sample sample) {
        sum.re = __hfma2(__low2half2(weight), sample, sum.re);
        sum.im = __hfma2(__high2half2(weight), sample, sum.im);
    }
    __device__ static ComplexPair bins(const NufftWork& work, Point point) {
        const float whole = work.of_half_bins;
        const float2 re = __half22float2(point.re), im = __half22float2(point.im);
        return {{re.x * whole, im.x * whole}, {re.y * whole, im.y * whole}};
    }
};

template <int log2_n>
struct NufftSize : TransformSize<log2_n> {
    using Transform = TransformSize<log2_n>;

    template <class Form>
    static constexpr int exchange_bytes = Transform::exchange_points* static_cast<int>(sizeof(typename Form::Point));
};

template <int log2_n, class Form>
constexpr int nufft_blocks() {  // per multiprocessor
    return Form::warps * 32 / NufftSize<log2_n>::threads;
}

// Computes points t + i * step of both lines' grids of n points.
template <class Form, int count>
__device__ inline void spread(const NufftWork& work, const typename Form::Sample* spectra,
                              typename Form::Point (&v)[count], int t, int step, int n) {
    int base[count];
#pragma unroll
    for (int i = 0; i < count; ++i) {
        base[i] = __ldg(work.base + t + i * step);
        v[i] = {};
    }
    const auto* weights = Form::weights(work) + t;
#pragma unroll 1
    for (int m = 0; m < work.taps; ++m) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            Form::add(v[i], Form::loaded_weight(weights + i * step), spectra[base[i]]);
        }
        ++spectra;
        weights += n;
    }
}

// Outputs of the kept bins of both lines: to memory, or as codes through shared memory to their voxels.
struct OutputRows {
    float2* a;
    float2* b;

    __device__ OutputRows(const NufftWork& work, LinePairs::Pair pair, std::byte*)
        : a(work.bins + std::int64_t{pair.a} * work.depth), b(work.bins + std::int64_t{pair.b} * work.depth) {}

    __device__ void store(const NufftWork&, int z, ComplexPair value) const {
        a[z] = value.a;
        b[z] = value.b;
    }
    __device__ void finish(const NufftWork&, LinePairs::Pair, int, int) const {}
};

// Byte codes, collected in shared memory and stored sixteen at a time.
struct CodedRows {
    std::byte* rows;

    __device__ CodedRows(const NufftWork&, LinePairs::Pair, std::byte* shared) : rows(shared) {}

    __device__ void store(const NufftWork& work, int z, ComplexPair value) const {
        auto* codes = reinterpret_cast<std::uint8_t*>(rows) + work.codes.place(z);
        codes[0] = work.codes.code(value.a);
        codes[work.depth] = work.codes.code(value.b);
    }
    __device__ void finish(const NufftWork& work, LinePairs::Pair pair, int t, int threads) const {
        __syncthreads();
        const int half = threads / 2, own = t / half;
        if (own > 1) return;
        work.codes.store(rows + own * work.depth, own == 0 ? pair.a : pair.b, t - own * half, half);
    }
};

// A grid of real points, two of which form one complex point.
struct NufftRealGrid {
    template <class Size, class Form, class Rows>
    __device__ static void store(const NufftWork& work, typename Form::Point* exchange,
                                 const typename Form::Point (&v)[16], int t, const Rows& rows) {
        with_mirrored_bins<Size>(exchange, v, t, work.first_bin, work.first_bin + work.depth,
                                 [&](int i, int k, typename Form::Point mirror) {
                                     const int z = k - work.first_bin;
                                     const float4 factors = __ldg(work.factors + z);
                                     rows.store(work, z,
                                                combined(factors, Form::bins(work, v[i]), Form::bins(work, mirror)));
                                 });
    }
};

// A complex grid, whose bins need only the correction.
struct NufftComplexGrid {
    template <class Size, class Form, class Rows>
    __device__ static void store(const NufftWork& work, typename Form::Point*, const typename Form::Point (&v)[16],
                                 int t, const Rows& rows) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {  // the first half contains all kept bins (choose_path)
            const int k = t + i * Size::threads, z = k - work.first_bin;
            if (z < 0 || z >= work.depth) continue;
            rows.store(work, z, Form::bins(work, v[i]) * float2{__ldg(work.correction + z), 0});
        }
    }
};

// One block per two lines. Shared memory: an exchange buffer, which first holds the spectra, and two rows of codes.
template <int log2_n, class Source, class Form, class Grid, class Rows>
__global__ void __launch_bounds__(NufftSize<log2_n>::threads, (nufft_blocks<log2_n, Form>()))
    transform_samples(const __grid_constant__ NufftWork work) {
    using Size = NufftSize<log2_n>;
    using Point = typename Form::Point;
    extern __shared__ ComplexPair shared[];
    const LinePairs::Pair pair = work.lines.pairs.at(blockIdx.x);
    if (pair.a < 0) return;
    const int t = static_cast<int>(threadIdx.x);
    auto* exchange = reinterpret_cast<Point*>(shared);
    auto* spectra = reinterpret_cast<typename Form::Sample*>(shared);
    const LinePair lines = work.lines.spectra(pair, t, Size::threads);
    Source::read(lines, spectra);
    __syncthreads();
    if (work.repeated > 0) {
        for (int p = t; p < work.repeated; p += Size::threads) spectra[lines.samples + p] = spectra[p];
        __syncthreads();
    }
    Point v[16];
    spread<Form>(work, spectra, v, t, Size::threads, Size::n);
    transform_line<Size>(exchange, v, Form::twiddles(work), t);
    const Rows rows(work, pair, reinterpret_cast<std::byte*>(shared) + Size::template exchange_bytes<Form>);
    Grid::template store<Size, Form>(work, exchange, v, t, rows);
    rows.finish(work, pair, t, Size::threads);
}

template <class Size, class Source, class Form, class Grid, class Rows>
void launch(const NufftWork& work, cudaStream_t stream) {
    const auto kernel = transform_samples<Size::log2_n, Source, Form, Grid, Rows>;
    const int rows = std::is_same_v<Rows, CodedRows> ? 2 * work.depth : 0;
    const int shared = Size::template exchange_bytes<Form> + rows;
    checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "request shared memory");
    kernel<<<work.lines.pairs.count(), Size::threads, index(shared), stream>>>(work);
    checked_launch("transform nonuniform samples");
}

// Calls use(Grid, Rows) for the requested output.
template <class Use>
void with_grid_and_rows(const NufftWork& work, bool real, const Use& use) {
    const auto with_rows = [&](auto grid) {
        if (work.bins == nullptr) return use(grid, std::type_identity<CodedRows>{});
        use(grid, std::type_identity<OutputRows>{});
    };
    if (real) return with_rows(NufftRealGrid{});
    with_rows(NufftComplexGrid{});
}

}  // namespace echolux::cuda
