// Kernels of the fast transform: all of it for two lines by a block of threads, or spreading and correction alone.
#include "compute/cuda/nufft.h"

#include <algorithm>

#include "compute/cuda/half_length.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/line_pairs.h"
#include "compute/cuda/mirrored_bins.cuh"
#include "compute/cuda/spectrum_pair.cuh"

namespace echolux::cuda {
namespace {

constexpr std::int64_t complex_bytes = sizeof(float2);

// ---- in one kernel --------------------------------------------------------------------------------------------------

struct NufftWork {
    const std::int32_t* base = nullptr;
    const float2* weights = nullptr;
    int taps = 0;
    int repeated = 0;
    const float2* twiddles = nullptr;
    const float* correction = nullptr;
    const float4* factors = nullptr;

    LineFormat format;
    const std::byte* raw = nullptr;
    LinePairs pairs;
    DeviceBackground background;
    int samples = 0;

    int first_bin = 0;
    int depth = 0;
    float2* bins = nullptr;  // [lines][depth]
};

template <int log2_n>
struct NufftSize : TransformSize<log2_n> {
    using Transform = TransformSize<log2_n>;
    static constexpr int min_blocks = 512 / Transform::threads;
    static constexpr int exchange_bytes = Transform::exchange_points * static_cast<int>(sizeof(ComplexPair));
};

// Points t + i * Size::threads of both lines' grids.
template <class Size>
__device__ inline void spread(const NufftWork& work, const float2* spectra, ComplexPair (&v)[16], int t) {
    int base[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        base[i] = __ldg(work.base + t + i * Size::threads);
        v[i] = {};
    }
    const float2* weights = work.weights + t;
#pragma unroll 1
    for (int m = 0; m < work.taps; ++m) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const float2 sample = spectra[base[i]], weight = __ldg(weights + i * Size::threads);
            v[i] = v[i] +
                   ComplexPair{{weight.x * sample.x, weight.y * sample.x}, {weight.x * sample.y, weight.y * sample.y}};
        }
        ++spectra;
        weights += Size::n;
    }
}

// Where the kept bins of both lines go.
struct KeptRows {
    float2* a;
    float2* b;

    __device__ KeptRows(const NufftWork& work, LinePairs::Pair pair)
        : a(work.bins + std::int64_t{pair.a} * work.depth - work.first_bin),
          b(work.bins + std::int64_t{pair.b} * work.depth - work.first_bin) {}

    __device__ void store(int bin, ComplexPair value) const {
        a[bin] = value.a;
        b[bin] = value.b;
    }
};

// A grid of real points, two of them in a complex one. `words`: that a thread reads where spectra are as long as the
// k grid, and the finer grid is twice as fine.
struct RealGrid {
    static constexpr int words = 8;

    template <class Size>
    __device__ static void store(const NufftWork& work, ComplexPair* exchange, const ComplexPair (&v)[16], int t,
                                 const KeptRows& rows) {
        with_mirrored_bins<Size>(exchange, v, t, work.first_bin, work.first_bin + work.depth,
                                 [&](int i, int k, ComplexPair mirror) {
                                     const float4 factors = __ldg(work.factors + k - work.first_bin);
                                     rows.store(k, combined(factors, v[i], mirror));
                                 });
    }
};

struct ComplexGrid {
    static constexpr int words = 4;

    template <class Size>
    __device__ static void store(const NufftWork& work, ComplexPair*, const ComplexPair (&v)[16], int t,
                                 const KeptRows& rows) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {  // only bins on one side of zero delay are kept
            const int k = t + i * Size::threads, z = k - work.first_bin;
            if (z >= 0 && z < work.depth) rows.store(k, v[i] * float2{__ldg(work.correction + z), 0});
        }
    }
};

// A block takes two lines. Shared memory: one exchange, which has the spectra before.
template <int log2_n, class Source, class Grid>
__global__ void __launch_bounds__(NufftSize<log2_n>::threads, NufftSize<log2_n>::min_blocks)
    transform_samples(const __grid_constant__ NufftWork work) {
    using Size = NufftSize<log2_n>;
    extern __shared__ ComplexPair exchange[];
    const LinePairs::Pair pair = work.pairs.at(blockIdx.x);
    if (pair.a < 0) return;
    const int t = static_cast<int>(threadIdx.x);
    auto* spectra = reinterpret_cast<float2*>(exchange);
    const std::int64_t row = work.background.row(pair.a), line_bytes = work.format.line_bytes();
    Source::read({work.format, work.raw + pair.a * line_bytes, work.raw + pair.b * line_bytes,
                  work.background.whole + row, work.background.rest + row, work.samples, t, Size::threads},
                 spectra);
    __syncthreads();
    if (work.repeated > 0) {
        for (int p = t; p < work.repeated; p += Size::threads) spectra[work.samples + p] = spectra[p];
        __syncthreads();
    }
    ComplexPair v[16];
    spread<Size>(work, spectra, v, t);
    transform_line<Size>(exchange, v, work.twiddles, t);
    Grid::template store<Size>(work, exchange, v, t, KeptRows(work, pair));
}

template <class Size, class Source, class Grid>
void launch(const NufftWork& work, cudaStream_t stream) {
    const auto kernel = transform_samples<Size::log2_n, Source, Grid>;
    checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Size::exchange_bytes),
            "ask for shared memory");
    kernel<<<work.pairs.count(), Size::threads, Size::exchange_bytes, stream>>>(work);
    checked_launch("transform samples where they lie");
}

template <class Grid>
void launch(const NufftWork& work, std::int64_t points, cudaStream_t stream) {
    const bool words = work.samples == points / 8 * Grid::words && has_u16_words(work.format, work.raw);
    with_transform_size(points, [&](auto size) {
        using Size = NufftSize<size.log2_n>;
        if (words) {
            launch<Size, ByWords<U16Words, Grid::words>, Grid>(work, stream);
        } else {
            launch<Size, BySamples, Grid>(work, stream);
        }
    });
}

// Whether a block has room for the grids of two lines, and before for their spectra.
bool fits_on_chip(const GridTaps& grid, std::int64_t samples) {
    if (!has_transform_size(grid.points)) return false;
    bool fits = false;
    with_transform_size(grid.points, [&](auto size) {
        constexpr std::int64_t bytes = NufftSize<size.log2_n>::exchange_bytes;
        fits = bytes <= max_shared_bytes() && (samples + grid.repeated) * complex_bytes <= bytes;
    });
    return fits;
}

// ---- in passes ------------------------------------------------------------------------------------------------------

__global__ void spread_lines(const std::int32_t* base, const float2* weights, int taps, std::int64_t points,
                             const float* spectra, int samples, std::int64_t lines, float2* grids) {
    const std::int64_t first = std::int64_t{blockIdx.x} * lines_that_share;
    for (std::int64_t j = threadIdx.x; j < points; j += blockDim.x) {
        float2 sums[lines_that_share] = {};
        int sample = base[j];
        for (int m = 0; m < taps; ++m) {
            const float2 weight = __ldg(weights + m * points + j);
#pragma unroll
            for (int l = 0; l < lines_that_share; ++l) {
                const float value = spectra[min(first + l, lines - 1) * samples + sample];
                sums[l] = sums[l] + float2{weight.x * value, weight.y * value};
            }
            sample = sample + 1 == samples ? 0 : sample + 1;
        }
#pragma unroll
        for (int l = 0; l < lines_that_share; ++l) {
            if (first + l < lines) grids[(first + l) * points + j] = sums[l];
        }
    }
}

__global__ void correct(float2* bins, std::int64_t stride, std::int64_t depth, const float* correction) {
    float2* line = bins + blockIdx.x * stride;
    for (std::int64_t z = threadIdx.x; z < depth; z += blockDim.x) line[z] = line[z] * float2{correction[z], 0};
}

// ---- lines of one call ----------------------------------------------------------------------------------------------

// Of bins that are written and read again soon: they stay in the second-level cache.
constexpr std::int64_t cached_bytes = std::int64_t{32} << 20;

std::int64_t lines_in_one_kernel(std::int64_t depth, std::int64_t max_lines) {
    return std::clamp<std::int64_t>(cached_bytes / (depth * complex_bytes), 1, max_lines);
}

}  // namespace

NufftDeviceTables::NufftDeviceTables(const ReconstructionSpec& spec, bool fused)
    : NufftDeviceTables(spec, nufft_tables(spec), fused) {}

NufftDeviceTables::NufftDeviceTables(const ReconstructionSpec& spec, const NufftTables& tables, bool fused)
    : NufftDeviceTables(spec, tables, grid_taps(tables), fused) {}

NufftDeviceTables::NufftDeviceTables(const ReconstructionSpec& spec, const NufftTables& tables, const GridTaps& grid,
                                     bool fused)
    : real_(tables.real), grid_(tables.grid), points_(grid.points), taps_(grid.taps), repeated_(grid.repeated),
      first_bin_(tables.first_bin), depth_(std::ssize(tables.correction)), base_(uploaded(grid.base)),
      weights_(uploaded(grid.weights)), correction_(uploaded(tables.correction)) {
    if (!fused || !fits_on_chip(grid, spec.geometry.samples)) return;
    if (real_) factors_ = uploaded(spectrum_factors(points_, first_bin_, tables.correction));
    twiddles_ = uploaded(transform_twiddles(points_));
}

NufftLines::Passes::Passes(const NufftDeviceTables& tables, const LineFormat& format, std::int64_t rolling_width,
                           std::int64_t lines, cudaStream_t stream)
    : subtract(format, rolling_width, lines), spectra(lines * format.samples() * std::int64_t{sizeof(float)}),
      grids(Fft::line_memory(tables.grid_, lines, tables.points_ * complex_bytes)),
      transform(tables.real_ ? Fft::Kind::real_forward : Fft::Kind::complex_forward, tables.grid_, tables.grid_,
                tables.real_ ? tables.grid_ / 2 + 1 : tables.grid_, stream) {}

NufftLines::NufftLines(const NufftDeviceTables& tables, const LineFormat& format, std::int64_t rolling_width,
                       std::int64_t max_lines, cudaStream_t stream)
    : tables_(tables), format_(format), stream_(stream),
      lines_at_once_(tables.in_one_kernel() ? lines_in_one_kernel(tables.depth_, max_lines)
                                            : Fft::lines_at_once(tables.grid_, max_lines)) {
    if (tables.in_one_kernel()) {
        stride_ = tables.depth_;
        bins_ = DeviceBuffer(lines_at_once_ * stride_ * complex_bytes);
        return;
    }
    passes_.emplace(tables, format, rolling_width, lines_at_once_, stream);
    stride_ = tables.real_ ? tables.grid_ / 2 + 1 : tables.grid_;
    if (tables.real_) bins_ = Fft::line_memory(tables.grid_, lines_at_once_, stride_ * complex_bytes);
}

DeviceBins NufftLines::enqueue(const std::byte* raw, std::int64_t lines, const DeviceBackground& background) {
    return passes_ ? enqueue_passes(raw, lines, background) : enqueue_one_kernel(raw, lines, background);
}

DeviceBins NufftLines::enqueue_one_kernel(const std::byte* raw, std::int64_t lines,
                                          const DeviceBackground& background) const {
    NufftWork work;
    work.base = tables_.base_.as<std::int32_t>();
    work.weights = tables_.weights_.as<float2>();
    work.taps = static_cast<int>(tables_.taps_);
    work.repeated = static_cast<int>(tables_.repeated_);
    work.twiddles = tables_.twiddles_.as<float2>();
    work.correction = tables_.correction_.as<float>();
    work.factors = tables_.factors_.as<float4>();
    work.format = format_;
    work.raw = raw;
    work.pairs = LinePairs(lines, background);
    work.background = background;
    work.samples = static_cast<int>(format_.samples());
    work.first_bin = static_cast<int>(tables_.first_bin_);
    work.depth = static_cast<int>(tables_.depth_);
    work.bins = bins_.as<float2>();
    if (tables_.real_) {
        launch<RealGrid>(work, tables_.points_, stream_);
    } else {
        launch<ComplexGrid>(work, tables_.points_, stream_);
    }
    return {bins_.as<float2>(), stride_};
}

DeviceBins NufftLines::enqueue_passes(const std::byte* raw, std::int64_t lines, const DeviceBackground& background) {
    auto* spectra = passes_->spectra.as<float>();
    passes_->subtract.enqueue(stream_, raw, lines, background, spectra, format_.samples());
    spread_lines<<<blocks_for_lines(lines), threads_of_a_line, 0, stream_>>>(
        tables_.base_.as<std::int32_t>(), tables_.weights_.as<float2>(), static_cast<int>(tables_.taps_),
        tables_.points_, spectra, static_cast<int>(format_.samples()), lines, passes_->grids.as<float2>());
    checked_launch("spread samples over a grid");
    std::byte* bins = tables_.real_ ? bins_.data() : passes_->grids.data();
    passes_->transform.execute(lines, passes_->grids.data(), bins);
    float2* kept = reinterpret_cast<float2*>(bins) + tables_.first_bin_;
    correct<<<static_cast<unsigned>(lines), threads_of_a_line, 0, stream_>>>(kept, stride_, tables_.depth_,
                                                                             tables_.correction_.as<float>());
    checked_launch("correct for the kernel");
    return {kept, stride_};
}

}  // namespace echolux::cuda
