// Kernel for on-chip up-sampling. Lines are transformed at half their length (half_length.h), two at a time.
#include "compute/cuda/upsampling.h"

#include <bit>

#include "compute/cuda/grid_value.cuh"
#include "compute/cuda/half_length.h"
#include "compute/cuda/k_linear.h"
#include "compute/cuda/line_words.h"
#include "compute/cuda/mirrored_bins.cuh"
#include "compute/cuda/paired_lines.cuh"

namespace echolux::cuda {
namespace {

template <class Weight>
struct UpsamplingWork {
    const float2* twiddles = nullptr;
    const float4* factors = nullptr;
    const std::int32_t* base = nullptr;  // in the up-sampled line
    const float* taps = nullptr;
    const Weight* weight = nullptr;

    PairedLines lines;

    int pad_left = 0;
    bool by_words = false;
    int upsample = 0;
    int log2_upsample = 0;
    int tap_count = 0;
    int points = 0;
    int transform = 0;
    Weight* out = nullptr;  // [lines][transform]
};

template <int log2_n>
struct HalfSize : TransformSize<log2_n> {
    using Transform = TransformSize<log2_n>;
    static constexpr int padded = 2 * Transform::n;
    static constexpr int min_blocks = Transform::threads > 128 ? 1 : 384 / Transform::threads;

    // One line per phase; the last one shares memory with the exchange buffer.
    static constexpr std::int64_t shared_bytes(std::int64_t upsample) {
        return (upsample - 1) * padded * std::int64_t{sizeof(float2)} +
               Transform::exchange_points * std::int64_t{sizeof(ComplexPair)};
    }
};

// Calls use(HalfSize) for a supported padded length.
template <class Use>
void with_half_size(std::int64_t padded, const Use& use) {
    with_transform_size(padded / 2, [&](auto size) {
        if constexpr (size.log2_n <= 12) use(HalfSize<size.log2_n>{});
    });
}

// Convert between samples of two lines, (a, b) each, and points of their transforms.
__device__ inline ComplexPair as_point(float4 samples) {
    return {{samples.x, samples.z}, {samples.y, samples.w}};
}

__device__ inline float4 as_samples(ComplexPair point) {
    return {point.a.x, point.b.x, point.a.y, point.b.y};
}

// Reads both lines, background subtracted, with zero padding.
template <class Weight>
__device__ inline void read_padded(const UpsamplingWork<Weight>& work, LinePairs::Pair pair, float2* line, int padded) {
    const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const LinePair lines = work.lines.spectra(pair, t, threads);
    if (work.by_words) {
        ByWordsInTurn<U16Words>::read(lines, line + work.pad_left);
    } else {
        BySamples::read(lines, line + work.pad_left);
    }
    for (int p = t; p < work.pad_left; p += threads) line[p] = {};
    for (int p = work.pad_left + lines.samples + t; p < padded; p += threads) line[p] = {};
}

// Sample i of the up-sampled line is sample i / upsample of phase i % upsample.
template <class Weight>
__device__ inline void resample_and_weigh(const UpsamplingWork<Weight>& work, LinePairs::Pair pair,
                                          const float2* phases, int padded) {
    Weight* out_a = work.out + std::int64_t{pair.a} * work.transform;
    Weight* out_b = work.out + std::int64_t{pair.b} * work.transform;
    const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
#pragma unroll 2
    for (int j = t; j < work.points; j += threads) {
        const int base = __ldg(work.base + j);
        const Weight weight = __ldg(work.weight + j);
        float2 value{};
        for (int m = 0; m < work.tap_count; ++m) {
            const int i = base + m;
            const float2 sample = phases[(i & (work.upsample - 1)) * padded + (i >> work.log2_upsample)];
            const float tap = __ldg(work.taps + j * work.tap_count + m);
            value = {value.x + tap * sample.x, value.y + tap * sample.y};
        }
        out_a[j] = weighted(weight, value.x);
        out_b[j] = weighted(weight, value.y);
    }
    for (int j = work.points + t; j < work.transform; j += threads) out_a[j] = out_b[j] = Weight{};
}

// One block per two lines.
template <int log2_n, class Weight>
__global__ void __launch_bounds__(HalfSize<log2_n>::threads, HalfSize<log2_n>::min_blocks)
    upsample_lines(const __grid_constant__ UpsamplingWork<Weight> work) {
    using Size = HalfSize<log2_n>;
    extern __shared__ float4 phases[];  // [upsample][padded / 2], two samples of both lines each
    const LinePairs::Pair pair = work.lines.pairs.at(blockIdx.x);
    if (pair.a < 0) return;
    const int t = static_cast<int>(threadIdx.x);
    auto* exchange = reinterpret_cast<ComplexPair*>(phases + (work.upsample - 1) * Size::n);
    read_padded(work, pair, reinterpret_cast<float2*>(phases), Size::padded);
    __syncthreads();
    ComplexPair spectrum[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) spectrum[i] = as_point(phases[t + i * Size::threads]);
    transform_line<Size>(exchange, spectrum, work.twiddles, t);
#pragma unroll 1
    for (int phase = 1; phase < work.upsample; ++phase) {
        const float4* factors = work.factors + (phase - 1) * Size::n;
        ComplexPair v[16];
        with_mirrored_bins<Size>(exchange, spectrum, t, 0, Size::n, [&](int i, int k, ComplexPair mirror) {
            v[i] = combined(__ldg(factors + k), spectrum[i], mirror);
        });
        transform_line_back<Size>(exchange, v, work.twiddles, t);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) phases[phase * Size::n + t + i * Size::threads] = as_samples(v[i]);
    }
    __syncthreads();
    resample_and_weigh(work, pair, reinterpret_cast<const float2*>(phases), Size::padded);
}

template <class Weight>
void launch(const UpsamplingWork<Weight>& work, std::int64_t padded, cudaStream_t stream) {
    with_half_size(padded, [&](auto size) {
        using Size = decltype(size);
        const auto kernel = upsample_lines<Size::log2_n, Weight>;
        const auto shared = static_cast<int>(Size::shared_bytes(work.upsample));
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                "ask for shared memory");
        kernel<<<work.lines.pairs.count(), Size::threads, static_cast<std::size_t>(shared), stream>>>(work);
        checked_launch("up-sample on chip");
    });
}

}  // namespace

bool UpsamplingKernel::fits(const PlainTables& tables) {
    const std::int64_t padded = tables.lengths.padded;
    const bool possible = (tables.upsample == 2 || tables.upsample == 4) && padded % 2 == 0 &&
                          has_transform_size(padded / 2) && !tables.resample.prefilter && tables.rolling_width == 0;
    if (!possible) return false;
    bool fits = false;
    with_half_size(padded, [&](auto size) { fits = size.shared_bytes(tables.upsample) <= max_shared_bytes(); });
    return fits;
}

UpsamplingKernel::UpsamplingKernel(const PlainTables& tables)
    : twiddles_(uploaded(transform_twiddles(tables.lengths.padded / 2))),
      factors_(uploaded(shift_factors(tables.lengths.padded / 2, tables.upsample))) {}

void UpsamplingKernel::enqueue(cudaStream_t stream, const LineFormat& format, const RawLines& lines,
                               const KLinearTables& tables, std::byte* weighted) const {
    const PlainTables& plan = tables.of_plan();
    const auto with_weight = [&]<class Weight>(Weight* out) {
        UpsamplingWork<Weight> work;
        work.twiddles = twiddles_.as<float2>();
        work.factors = factors_.as<float4>();
        work.base = tables.base();
        work.taps = tables.taps();
        work.weight = tables.weight<Weight>();
        work.lines = PairedLines(format, lines);
        work.pad_left = static_cast<int>(plan.lengths.pad_left);
        work.by_words = work.pad_left % 2 == 0 && line_words(format, lines.raw) == LineWords::u16;
        work.upsample = static_cast<int>(plan.upsample);
        work.log2_upsample = std::countr_zero(static_cast<unsigned>(plan.upsample));
        work.tap_count = static_cast<int>(plan.resample.taps);
        work.points = static_cast<int>(plan.lengths.points);
        work.transform = static_cast<int>(plan.lengths.transform);
        work.out = out;
        launch(work, plan.lengths.padded, stream);
    };
    if (tables.real()) {
        with_weight(reinterpret_cast<float*>(weighted));
    } else {
        with_weight(reinterpret_cast<float2*>(weighted));
    }
}

}  // namespace echolux::cuda
