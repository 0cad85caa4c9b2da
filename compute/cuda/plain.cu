// Kernels of the plain method between the transforms, and how its work buffers are laid out.
#include <algorithm>

#include "compute/cuda/launch.h"
#include "compute/cuda/plain.h"
#include "compute/steps/resample.h"

namespace echolux::cuda {
namespace {

constexpr std::int64_t margin = SplinePrefilter::reach + 1;
constexpr std::int64_t before = 16;  // floats before each line: the margin, rounded so that lines start aligned
constexpr std::int64_t work_bytes = std::int64_t{64} << 20;  // of complex lines at a time
constexpr std::int64_t float_bytes = sizeof(float), complex_bytes = sizeof(float2);

static_assert(before >= margin);

__device__ inline float weighted(float weight, float value) {
    return weight * value;
}

__device__ inline float2 weighted(float2 weight, float value) {
    return {weight.x * value, weight.y * value};
}

constexpr int lines_of_a_block = 4;  // that share what is fetched of the tables

// The taps of one point, fetched at once.
template <int taps>
__device__ inline void fetch(const float* from, float (&weights)[taps]) {
    if constexpr (taps == 4) {
        const float4 all = __ldg(reinterpret_cast<const float4*>(from));
        weights[0] = all.x, weights[1] = all.y, weights[2] = all.z, weights[3] = all.w;
    } else {
        for (int m = 0; m < taps; ++m) weights[m] = __ldg(from + m);
    }
}

// out[line][j], zero beyond the points of the k grid.
template <int taps, class Weight>
__global__ void resample_and_weigh_lines(Resampled<taps> resampled, const Weight* weight, std::int64_t points,
                                         const float* spectra, std::int64_t pitch, std::int64_t lines, Weight* out,
                                         std::int64_t transform) {
    const std::int64_t first = std::int64_t{blockIdx.x} * lines_of_a_block;
    for (std::int64_t j = threadIdx.x; j < transform; j += blockDim.x) {
        const bool inside = j < points;
        const std::int32_t base = inside ? resampled.base[j] : 0;
        const Weight factor = inside ? weight[j] : Weight{};
        float weights[taps] = {};
        if (inside) fetch(resampled.weights + j * taps, weights);
        const Resampled<taps> point{&base, weights};
#pragma unroll
        for (std::int64_t l = first; l < first + lines_of_a_block; ++l) {
            if (l < lines) out[l * transform + j] = weighted(factor, point(spectra + l * pitch, 0));
        }
    }
}

// Zero padding in the conjugate domain; the Nyquist bin of an even length is shared by both halves
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

// Beyond its ends a line goes on point-symmetrically.
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

// Lines of one call: whole batches of the transform, as many as the block and a bound on memory ask for.
std::int64_t lines_at_once(const Lengths& lengths, std::int64_t most_lines) {
    const std::int64_t affordable = work_bytes / (complex_bytes * lengths.transform);
    const std::int64_t batch = Fft::batch(lengths.transform);
    return std::clamp(std::max(batch, affordable / batch * batch), batch,
                      Fft::whole_batches(lengths.transform, most_lines));
}

// Throws away what the transforms of other lengths round up to.
DeviceBuffer lines_for(std::int64_t transform, std::int64_t lines, std::int64_t line_bytes) {
    return zeroed(Fft::whole_batches(transform, lines) * line_bytes);
}

}  // namespace

PlainDeviceTables::PlainDeviceTables(const PlainTables& tables)
    : base(uploaded(tables.resample.base)), taps(uploaded(tables.resample.weights)) {
    if (tables.weight.real) {
        real_weight = uploaded(tables.real_weight);
    } else {
        weight = DeviceBuffer(std::ssize(tables.weight.values) * complex_bytes);
        upload(tables.weight.values.data(), weight.bytes(), weight.data());
    }
}

float* PlainMethod::Spectra::first() const {
    return memory.as<float>() + before;
}

PlainMethod::PlainMethod(const PlainTables& tables, const PlainDeviceTables& on_device, const LineFormat& format,
                         DepthRange kept, std::int64_t most_lines, cudaStream_t stream)
    : tables_(tables), on_device_(on_device), format_(format), kept_(kept), stream_(stream),
      lines_at_once_(cuda::lines_at_once(tables.lengths, most_lines)),
      subtraction_(format, tables.rolling_width, lines_at_once_),
      transform_(tables.weight.real ? Fft::Kind::real_forward : Fft::Kind::complex_forward, tables.lengths.transform,
                 tables.lengths.transform,
                 tables.weight.real ? tables.lengths.transform / 2 + 1 : tables.lengths.transform, stream) {
    const Lengths& lengths = tables.lengths;
    constexpr std::int64_t aligned = 32;  // floats
    spectra_.pitch = (before + lengths.upsampled + margin + aligned - 1) / aligned * aligned;
    spectra_.memory = lines_for(lengths.upsampled, lines_at_once_, spectra_.pitch * float_bytes);
    if (tables.upsample > 1) {
        recorded_ = lines_for(lengths.padded, lines_at_once_, lengths.padded * float_bytes);
        narrow_ = lines_for(lengths.padded, lines_at_once_, (lengths.padded / 2 + 1) * complex_bytes);
        wide_ = lines_for(lengths.upsampled, lines_at_once_, (lengths.upsampled / 2 + 1) * complex_bytes);
        to_conjugate_.emplace(Fft::Kind::real_forward, lengths.padded, lengths.padded, lengths.padded / 2 + 1, stream);
        from_conjugate_.emplace(Fft::Kind::real_inverse, lengths.upsampled, lengths.upsampled / 2 + 1, spectra_.pitch,
                                stream);
    }
    if (tables.resample.prefilter) {
        coefficients_ = DeviceBuffer(lines_at_once_ * (lengths.upsampled + 2) * float_bytes);
    }
    const std::int64_t element = tables.weight.real ? float_bytes : complex_bytes;
    weighted_ = lines_for(lengths.transform, lines_at_once_, lengths.transform * element);
    if (tables.weight.real) {
        bins_ = lines_for(lengths.transform, lines_at_once_, (lengths.transform / 2 + 1) * complex_bytes);
    }
}

DeviceBins PlainMethod::enqueue(const std::byte* raw, std::int64_t lines, const DeviceBackground& background) {
    // The zeros around the recorded samples are there from the start and never written.
    const bool upsampled = tables_.upsample > 1;
    float* recorded = (upsampled ? recorded_.as<float>() : spectra_.first()) + tables_.lengths.pad_left;
    subtraction_.enqueue(stream_, raw, lines, background, recorded,
                         upsampled ? tables_.lengths.padded : spectra_.pitch);
    if (upsampled) upsample(lines);
    if (tables_.resample.prefilter) prefilter(lines);
    resample_and_weigh(lines);
    if (tables_.weight.real) {
        transform_.execute(lines, weighted_.data(), bins_.data());
        return {bins_.as<float2>() + kept_.begin, tables_.lengths.transform / 2 + 1};
    }
    transform_.execute(lines, weighted_.data(), weighted_.data());
    return {weighted_.as<float2>() + kept_.begin, tables_.lengths.transform};
}

void PlainMethod::upsample(std::int64_t lines) {
    to_conjugate_->execute(lines, recorded_.data(), narrow_.data());
    widen<<<static_cast<unsigned>(lines), threads_of_a_line, 0, stream_>>>(
        narrow_.as<float2>(), tables_.lengths.padded, wide_.as<float2>(), tables_.lengths.upsampled / 2 + 1);
    checked_launch("up-sample");
    from_conjugate_->execute(lines, wide_.data(), spectra_.first());
}

void PlainMethod::prefilter(std::int64_t lines) {
    const auto blocks = static_cast<unsigned>(lines);
    const std::int64_t n = tables_.lengths.upsampled;
    extend<<<blocks, 32, 0, stream_>>>(spectra_.first(), spectra_.pitch, n);
    spline_coefficients<<<blocks, threads_of_a_line, 0, stream_>>>(spectra_.first(), spectra_.pitch, n,
                                                                   coefficients_.as<float>());
    checked_launch("filter for the spline");
}

void PlainMethod::resample_and_weigh(std::int64_t lines) {
    const Lengths& lengths = tables_.lengths;
    const bool filtered = tables_.resample.prefilter;
    const float* spectra = filtered ? coefficients_.as<float>() : spectra_.first();
    const std::int64_t pitch = filtered ? lengths.upsampled + 2 : spectra_.pitch;
    const auto launch = [&](auto resampled, auto* weight) {
        const auto blocks = static_cast<unsigned>((lines + lines_of_a_block - 1) / lines_of_a_block);
        resample_and_weigh_lines<<<blocks, threads_of_a_line, 0, stream_>>>(
            resampled, weight, lengths.points, spectra, pitch, lines,
            reinterpret_cast<std::remove_const_t<std::remove_pointer_t<decltype(weight)>>*>(weighted_.data()),
            lengths.transform);
    };
    const auto with_weight = [&](auto resampled) {
        if (tables_.weight.real) {
            launch(resampled, on_device_.real_weight.as<float>());
        } else {
            launch(resampled, on_device_.weight.as<float2>());
        }
    };
    const auto* base = on_device_.base.as<std::int32_t>();
    const auto* taps = on_device_.taps.as<float>();
    switch (tables_.resample.taps) {
        case 1: with_weight(Resampled<1>{base, taps}); break;
        case 2: with_weight(Resampled<2>{base, taps}); break;
        default: with_weight(Resampled<4>{base, taps});
    }
    checked_launch("resample");
}

}  // namespace echolux::cuda
