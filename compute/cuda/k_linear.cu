// Kernels of the first steps of methods on a uniform grid: background subtraction, up-sampling on chip or between two
// transforms, and the layout of the work buffers.
#include "compute/cuda/k_linear.h"

#include <algorithm>
#include <bit>
#include <cub/block/block_scan.cuh>

#include "compute/cuda/launch.h"
#include "compute/cuda/line_pairs.cuh"
#include "compute/cuda/line_pairs.h"
#include "compute/cuda/point_values.cuh"
#include "compute/cuda/transform.cuh"
#include "compute/cuda/transform.h"
#include "compute/indexing.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// ---- Kernels for background subtraction: one thread block per line.

namespace {

template <class Read>
__global__ void subtract(Read read, const std::byte* raw, std::int64_t line_bytes, DeviceBackground background,
                         float* spectra, std::int64_t pitch) {
    const std::int64_t line = blockIdx.x;
    const std::byte* samples = raw + line * line_bytes;
    const float* whole = background.whole + background.row(line);
    const float* rest = background.rest + background.row(line);
    for (std::int64_t p = threadIdx.x; p < background.samples; p += blockDim.x) {
        spectra[line * pitch + p] = MinusBackground{}(read(samples, p), whole[p], rest[p]);
    }
}

// I[p] - mean(I[p - W + 1 .. p + W]), with the window clipped at the ends (docs/algorithms.md 2.2 f).
__global__ void __launch_bounds__(threads_of_a_line)
    subtract_rolling_mean(float* spectra, std::int64_t pitch, double* sums, std::int64_t samples, std::int64_t width) {
    using Scan = cub::BlockScan<double, threads_of_a_line>;
    __shared__ typename Scan::TempStorage storage;
    float* line = spectra + blockIdx.x * pitch;
    double* sum = sums + blockIdx.x * samples;  // sum[p]: over samples 0 .. p
    double before = 0;
    for (std::int64_t first = 0; first < samples; first += threads_of_a_line) {
        const std::int64_t p = first + threadIdx.x;
        double value = p < samples ? static_cast<double>(line[p]) : 0.0, total = 0;
        Scan(storage).InclusiveSum(value, value, total);
        if (p < samples) sum[p] = before + value;
        before += total;
        __syncthreads();
    }
    for (std::int64_t p = threadIdx.x; p < samples; p += threads_of_a_line) {
        const std::int64_t begin = p - width + 1 > 0 ? p - width + 1 : 0;
        const std::int64_t end = p + width + 1 < samples ? p + width + 1 : samples;
        const double mean = (sum[end - 1] - (begin > 0 ? sum[begin - 1] : 0.0)) / static_cast<double>(end - begin);
        line[p] = static_cast<float>(static_cast<double>(line[p]) - mean);
    }
}

}  // namespace

Subtraction::Subtraction(const LineFormat& format, std::int64_t rolling_width, std::int64_t max_lines)
    : format_(format), rolling_width_(rolling_width) {
    if (rolling_width > 0) sums_ = DeviceBuffer(max_lines * format.samples() * std::int64_t{sizeof(double)});
}

void Subtraction::enqueue(cudaStream_t stream, const RawLines& lines, float* spectra, std::int64_t pitch) const {
    const auto blocks = static_cast<unsigned>(lines.count);
    with_reader(format_, lines.raw, [&](const auto& read) {
        subtract<<<blocks, threads_of_a_line, 0, stream>>>(read, lines.raw, format_.line_bytes(), lines.background,
                                                           spectra, pitch);
    });
    checked_launch("subtract the background");
    if (rolling_width_ == 0) return;
    subtract_rolling_mean<<<blocks, threads_of_a_line, 0, stream>>>(spectra, pitch, sums_.as<double>(),
                                                                    format_.samples(), rolling_width_);
    checked_launch("subtract the rolling mean");
}

// ---- Kernel for on-chip up-sampling. Lines are transformed at half their length (transform.h), two at a time.

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
        const auto shared = static_cast<int>(upsampling_bytes(padded, work.upsample));
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                "request shared memory");
        kernel<<<work.lines.pairs.count(), Size::threads, index(shared), stream>>>(work);
        checked_launch("up-sample on chip");
    });
}

}  // namespace

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

namespace {

constexpr std::int64_t margin = SplinePrefilter::reach + 1;
constexpr std::int64_t before = 16;  // floats before each line: the margin, rounded up so that lines are aligned
constexpr std::int64_t float_bytes = sizeof(float), complex_bytes = sizeof(float2);

static_assert(before >= margin);

// Loads the taps of one point together.
template <int taps>
__device__ inline void fetch(const float* from, float (&weights)[taps]) {
    if constexpr (taps == 4) {
        const float4 all = __ldg(reinterpret_cast<const float4*>(from));
        weights[0] = all.x, weights[1] = all.y, weights[2] = all.z, weights[3] = all.w;
    } else {
        for (int m = 0; m < taps; ++m) weights[m] = __ldg(from + m);
    }
}

// Writes out[line][j], zero beyond the points of the k grid.
template <int taps, class Weight>
__global__ void resample_and_weigh_lines(Resampled<taps> resampled, const Weight* weight, std::int64_t points,
                                         const float* spectra, std::int64_t pitch, std::int64_t lines, Weight* out,
                                         std::int64_t transform) {
    const std::int64_t first = std::int64_t{blockIdx.x} * lines_that_share;
    for (std::int64_t j = threadIdx.x; j < transform; j += blockDim.x) {
        const bool inside = j < points;
        const std::int32_t base = inside ? resampled.base[j] : 0;
        const Weight factor = inside ? weight[j] : Weight{};
        float weights[taps] = {};
        if (inside) fetch(resampled.weights + j * taps, weights);
        const Resampled<taps> point{&base, weights};
#pragma unroll
        for (std::int64_t l = first; l < first + lines_that_share; ++l) {
            if (l < lines) out[l * transform + j] = weighted(factor, point(spectra + l * pitch, 0));
        }
    }
}

// Zero padding in the conjugate domain. The Nyquist bin of an even length is split between both halves
// (docs/algorithms.md 2.5).
__global__ void widen(const float2* narrow, std::int64_t n, float2* wide, std::int64_t wide_bins) {
    const float scale = 1.0f / static_cast<float>(n);
    const std::int64_t narrow_bins = n / 2 + 1;
    const float2* from = narrow + blockIdx.x * narrow_bins;
    float2* to = wide + blockIdx.x * wide_bins;
    for (std::int64_t i = threadIdx.x; i < wide_bins; i += blockDim.x) {
        const float share = n % 2 == 0 && i == n / 2 ? 0.5f * scale : scale;
        to[i] = i < narrow_bins ? float2{from[i].x * share, from[i].y * share} : float2{};
    }
}

// Continues the samples beyond both ends with point symmetry.
__global__ void extend(float* spectra, std::int64_t pitch, std::int64_t n) {
    float* x = spectra + blockIdx.x * pitch;
    const std::int64_t d = threadIdx.x + 1;
    if (d > margin) return;
    x[-d] = 2 * x[0] - x[d];
    x[n - 1 + d] = 2 * x[n - 1] - x[n - 1 - d];
}

__global__ void spline_coefficients(const float* spectra, std::int64_t pitch, std::int64_t n, float* coefficients) {
    const float* x = spectra + blockIdx.x * pitch;
    float* line = coefficients + blockIdx.x * (n + 2);
    for (std::int64_t i = threadIdx.x; i < n + 2; i += blockDim.x) line[i] = SplinePrefilter{}(x, i - 1);
}

}  // namespace

KLinearTables::KLinearTables(const PlainTables& tables, bool real, DeviceBuffer weight, bool on_chip)
    : of_plan_(tables), real_(real), base_(uploaded(tables.resample.base)), taps_(uploaded(tables.resample.weights)),
      weight_(std::move(weight)) {
    if (on_chip) one_kernel_.emplace(tables);
}

KLinearTables::KLinearTables(const PlainTables& tables, const std::vector<float>& weight, bool on_chip)
    : KLinearTables(tables, true, uploaded(weight), on_chip) {}

KLinearTables::KLinearTables(const PlainTables& tables, const std::vector<std::complex<float>>& weight, bool on_chip)
    : KLinearTables(tables, false, uploaded(weight), on_chip) {}

float* KLinearLines::Spectra::first() const {
    return memory.as<float>() + before;
}

KLinearLines::KLinearLines(const KLinearTables& tables, const LineFormat& format, std::int64_t max_lines,
                           cudaStream_t stream)
    : tables_(tables), lengths_(tables.of_plan().lengths), format_(format), upsampled_(tables.of_plan().upsample > 1),
      filtered_(tables.of_plan().resample.prefilter), stream_(stream),
      lines_at_once_(Fft::lines_at_once(lengths_.transform, max_lines)),
      weighted_(Fft::line_memory(lengths_.transform, lines_at_once_, lengths_.transform * tables.point_bytes())) {
    if (!tables.one_kernel()) prepare_passes();
}

void KLinearLines::prepare_passes() {
    constexpr std::int64_t aligned = 32;  // in floats
    subtraction_.emplace(format_, tables_.of_plan().rolling_width, lines_at_once_);
    spectra_.pitch = (before + lengths_.upsampled + margin + aligned - 1) / aligned * aligned;
    spectra_.memory = Fft::line_memory(lengths_.upsampled, lines_at_once_, spectra_.pitch * float_bytes);
    if (upsampled_) {
        recorded_ = Fft::line_memory(lengths_.padded, lines_at_once_, lengths_.padded * float_bytes);
        narrow_ = Fft::line_memory(lengths_.padded, lines_at_once_, (lengths_.padded / 2 + 1) * complex_bytes);
        wide_ = Fft::line_memory(lengths_.upsampled, lines_at_once_, (lengths_.upsampled / 2 + 1) * complex_bytes);
        to_conjugate_.emplace(Fft::Kind::real_forward, lengths_.padded, lengths_.padded, lengths_.padded / 2 + 1,
                              stream_);
        from_conjugate_.emplace(Fft::Kind::real_inverse, lengths_.upsampled, lengths_.upsampled / 2 + 1, spectra_.pitch,
                                stream_);
    }
    if (filtered_) coefficients_ = DeviceBuffer(lines_at_once_ * (lengths_.upsampled + 2) * float_bytes);
}

std::byte* KLinearLines::enqueue(const RawLines& lines) {
    if (tables_.one_kernel()) {
        tables_.one_kernel()->enqueue(stream_, format_, lines, tables_, weighted_.data());
        return weighted_.data();
    }
    // The zeros around the recorded samples are initialized once and never written.
    float* recorded = (upsampled_ ? recorded_.as<float>() : spectra_.first()) + lengths_.pad_left;
    subtraction_->enqueue(stream_, lines, recorded, upsampled_ ? lengths_.padded : spectra_.pitch);
    if (upsampled_) upsample(lines.count);
    if (filtered_) prefilter(lines.count);
    resample_and_weigh(lines.count);
    return weighted_.data();
}

void KLinearLines::upsample(std::int64_t lines) {
    to_conjugate_->execute(lines, recorded_.data(), narrow_.data());
    widen<<<static_cast<unsigned>(lines), threads_of_a_line, 0, stream_>>>(
        narrow_.as<float2>(), lengths_.padded, wide_.as<float2>(), lengths_.upsampled / 2 + 1);
    checked_launch("up-sample");
    from_conjugate_->execute(lines, wide_.data(), spectra_.first());
}

void KLinearLines::prefilter(std::int64_t lines) {
    const auto blocks = static_cast<unsigned>(lines);
    const std::int64_t n = lengths_.upsampled;
    extend<<<blocks, 32, 0, stream_>>>(spectra_.first(), spectra_.pitch, n);
    spline_coefficients<<<blocks, threads_of_a_line, 0, stream_>>>(spectra_.first(), spectra_.pitch, n,
                                                                   coefficients_.as<float>());
    checked_launch("filter for the spline");
}

void KLinearLines::resample_and_weigh(std::int64_t lines) {
    if (tables_.real()) {
        resample_and_weigh<float>(lines);
    } else {
        resample_and_weigh<float2>(lines);
    }
    checked_launch("resample");
}

template <class Weight>
void KLinearLines::resample_and_weigh(std::int64_t lines) {
    const float* spectra = filtered_ ? coefficients_.as<float>() : spectra_.first();
    const std::int64_t pitch = filtered_ ? lengths_.upsampled + 2 : spectra_.pitch;
    const auto launch = [&](auto resampled) {
        resample_and_weigh_lines<<<blocks_for_lines(lines), threads_of_a_line, 0, stream_>>>(
            resampled, tables_.weight<Weight>(), lengths_.points, spectra, pitch, lines, weighted_.as<Weight>(),
            lengths_.transform);
    };
    switch (tables_.of_plan().resample.taps) {
        case 1: launch(Resampled<1>{tables_.base(), tables_.taps()}); break;
        case 2: launch(Resampled<2>{tables_.base(), tables_.taps()}); break;
        default: launch(Resampled<4>{tables_.base(), tables_.taps()});
    }
}

}  // namespace echolux::cuda
