// NUFFT on the GPU: its tables, and the kernels for spreading and correction in separate passes.
#include "compute/cuda/nufft.h"

#include <algorithm>

#include "compute/cuda/butterflies.cuh"
#include "compute/cuda/half_length.h"
#include "compute/cuda/half_tables.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/line_words.h"
#include "compute/cuda/nufft_work.cuh"

namespace echolux::cuda {
namespace {

constexpr std::int64_t complex_bytes = sizeof(float2);

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

// Size of bins that are written and soon read again: they stay in the L2 cache.
constexpr std::int64_t cached_bytes = std::int64_t{32} << 20;

// Requires spectra of whole 16-bit words that fill the words of all threads.
bool goes_in_halves(const ReconstructionSpec& spec, std::int64_t words_of_all) {
    const LineFormat format(spec.format, spec.geometry);
    return wants_halves(spec) && format.samples() == words_of_all && line_words(format, nullptr) == LineWords::u16;
}

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
    if (!spec.calibration.k_jitter.empty()) {
        moved_.emplace(moved_samples(spec, tables), real_);
        return;
    }
    if (!fused) return;
    const std::int64_t samples_read = spec.geometry.samples + repeated_;
    if (nufft_fits_on_chip(points_, real_, samples_read, {first_bin_, first_bin_ + depth_})) {
        find_tables_on_chip(spec, grid);
    } else {
        mixed_ = mixed_shape(points_, samples_read, 0);
        if (mixed_) twiddles_ = uploaded(mixed_radix_twiddles(mixed_->length));
    }
    if (real_ && in_one_kernel()) factors_ = uploaded(spectrum_factors(points_, first_bin_, tables.correction));
}

// For grids with a power of two of points.
void NufftDeviceTables::find_tables_on_chip(const ReconstructionSpec& spec, const GridTaps& grid) {
    const std::vector<float2> twiddles = transform_twiddles(points_);
    twiddles_ = uploaded(twiddles);
    if (!goes_in_halves(spec, points_ / 8 * nufft_words)) return;
    half_twiddles_ = uploaded(halves_of(twiddles));
    const float scale = half_weight_scale(grid.weights);
    half_weights_ = uploaded(halves_of(grid.weights, scale));
    of_half_bins_ = 1 / (scale * of_half_samples);
}

NufftLines::Passes::Passes(const NufftDeviceTables& tables, const LineFormat& format, std::int64_t rolling_width,
                           std::int64_t lines, cudaStream_t stream)
    : subtract(format, rolling_width, lines), spectra(lines * format.samples() * std::int64_t{sizeof(float)}),
      weighed(tables.moved_ ? lines * tables.moved_->weighed_bytes() : 0),
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

DeviceBins NufftLines::enqueue(const RawLines& lines) {
    if (passes_) return enqueue_passes(lines);
    NufftWork work = on_chip(lines);
    work.bins = bins_.as<float2>();
    launch(work);
    return {work.bins, stride_};
}

bool NufftLines::enqueue_codes(const RawLines& lines, const ByteCodes& codes) {
    if (passes_) return false;
    NufftWork work = on_chip(lines);
    work.codes = codes;
    launch(work);
    return true;
}

// Fills everything except the output.
NufftWork NufftLines::on_chip(const RawLines& lines) const {
    NufftWork work;
    work.base = tables_.base_.as<std::int32_t>();
    work.weights = tables_.weights_.as<float2>();
    work.half_weights = tables_.half_weights_.as<__half2>();
    work.of_half_bins = tables_.of_half_bins_;
    work.taps = static_cast<int>(tables_.taps_);
    work.repeated = static_cast<int>(tables_.repeated_);
    work.twiddles = tables_.twiddles_.as<float2>();
    work.half_twiddles = tables_.half_twiddles_.as<HalfFactor>();
    work.correction = tables_.correction_.as<float>();
    work.factors = tables_.factors_.as<float4>();
    work.lines = PairedLines(format_, lines);
    work.first_bin = static_cast<int>(tables_.first_bin_);
    work.depth = static_cast<int>(tables_.depth_);
    return work;
}

void NufftLines::launch(const NufftWork& work) const {
    if (tables_.mixed_) {
        launch_nufft_mixed(work, *tables_.mixed_, tables_.real_, stream_);
    } else if (tables_.in_halves() && line_words(format_, work.lines.raw) == LineWords::u16) {
        launch_nufft_halves(work, tables_.points_, tables_.real_, stream_);
    } else {
        launch_nufft(work, tables_.points_, tables_.real_, stream_);
    }
}

DeviceBins NufftLines::enqueue_passes(const RawLines& lines) {
    passes_->subtract.enqueue(stream_, lines, passes_->spectra.as<float>(), format_.samples());
    spread(lines);
    std::byte* bins = tables_.real_ ? bins_.data() : passes_->grids.data();
    passes_->transform.execute(lines.count, passes_->grids.data(), bins);
    float2* kept = reinterpret_cast<float2*>(bins) + tables_.first_bin_;
    correct<<<static_cast<unsigned>(lines.count), threads_of_a_line, 0, stream_>>>(kept, stride_, tables_.depth_,
                                                                                   tables_.correction_.as<float>());
    checked_launch("correct for the kernel");
    return {kept, stride_};
}

void NufftLines::spread(const RawLines& lines) {
    const auto* spectra = passes_->spectra.as<float>();
    if (tables_.moved_) {
        return tables_.moved_->enqueue(stream_, lines, spectra, passes_->weighed.data(), passes_->grids.data());
    }
    spread_lines<<<blocks_for_lines(lines.count), threads_of_a_line, 0, stream_>>>(
        tables_.base_.as<std::int32_t>(), tables_.weights_.as<float2>(), static_cast<int>(tables_.taps_),
        tables_.points_, spectra, static_cast<int>(format_.samples()), lines.count, passes_->grids.as<float2>());
    checked_launch("spread samples over a grid");
}

}  // namespace echolux::cuda
