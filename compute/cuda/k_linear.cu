// Kernels between the transforms of up-sampling, and the layout of the work buffers.
#include "compute/cuda/k_linear.h"

#include <algorithm>

#include "compute/cuda/grid_value.cuh"
#include "compute/cuda/launch.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {
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

KLinearTables::KLinearTables(const PlainTables& tables, bool real, DeviceBuffer weight, bool fused)
    : of_plan_(tables), real_(real), base_(uploaded(tables.resample.base)), taps_(uploaded(tables.resample.weights)),
      weight_(std::move(weight)) {
    if (fused && UpsamplingKernel::fits(tables)) one_kernel_.emplace(tables);
}

KLinearTables::KLinearTables(const PlainTables& tables, const std::vector<float>& weight, bool fused)
    : KLinearTables(tables, true, uploaded(weight), fused) {}

KLinearTables::KLinearTables(const PlainTables& tables, const std::vector<std::complex<float>>& weight, bool fused)
    : KLinearTables(tables, false, uploaded(weight), fused) {}

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
