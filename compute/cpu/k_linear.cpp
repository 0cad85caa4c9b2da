#include "compute/cpu/k_linear.h"

#include <algorithm>

#include "compute/cpu/four_taps.h"
#include "compute/indexing.h"
#include "compute/steps/sample.h"

namespace echolux::cpu {

Subtraction::Subtraction(const LineFormat& format, std::int64_t rolling_width)
    : format_(format), rolling_width_(rolling_width) {
    if (rolling_width > 0) sums_.resize(index(format.samples() + 1));
}

ECHOLUX_WIDER void Subtraction::operator()(const RawLine& line, float* spectrum) {
    fetch_ahead(line.samples + format_.line_bytes());
    format_.with_reader([&](const auto& read) {
        const MinusBackground less_background;
        for (std::int64_t p = 0; p < format_.samples(); ++p) {
            spectrum[p] = less_background(read(line.samples, p), line.background.whole[p], line.background.rest[p]);
        }
    });
    if (rolling_width_ > 0) subtract_rolling_mean(spectrum);
}

// Prefetches the next line of the block while this one is transformed, because hardware prefetchers stop at page
// boundaries. Prefetching past the last line is harmless.
void Subtraction::fetch_ahead(const std::byte* line) const {
    constexpr std::int64_t cache_line = 64;
    for (std::int64_t at = 0; at < format_.line_bytes(); at += cache_line) __builtin_prefetch(line + at, 0, 2);
}

// I[p] - mean(I[p - W + 1 .. p + W]), with the window clipped at the ends (docs/algorithms.md 2.2 f).
void Subtraction::subtract_rolling_mean(float* spectrum) {
    const std::int64_t samples = format_.samples();
    for (std::int64_t p = 0; p < samples; ++p) sums_[index(p + 1)] = sums_[index(p)] + static_cast<double>(spectrum[p]);
    for (std::int64_t p = 0; p < samples; ++p) {
        const std::int64_t first = std::max<std::int64_t>(0, p - rolling_width_ + 1);
        const std::int64_t last = std::min(samples, p + rolling_width_ + 1);
        const double mean = (sums_[index(last)] - sums_[index(first)]) / static_cast<double>(last - first);
        spectrum[p] = static_cast<float>(static_cast<double>(spectrum[p]) - mean);
    }
}

namespace {

constexpr std::int64_t margin = SplinePrefilter::reach + 1;

std::size_t size(std::int64_t n) {
    return index(n);
}

}  // namespace

KLinearLine::KLinearLine(const PlainTables& tables, const LineFormat& format)
    : tables_(tables), subtract_(format, tables.rolling_width),
      spectrum_(size(tables.lengths.upsampled + 2 * margin + FourTaps::window), 0.0f),
      resampled_(size(tables.lengths.points)) {
    if (tables.resample.prefilter) coefficients_.resize(size(tables.lengths.upsampled + 2 + FourTaps::window));
    if (tables.resample.taps == 4) four_taps_.emplace(tables.resample);
    if (tables.upsample > 1) {
        to_conjugate_.emplace(Fft::Kind::real_forward, tables.lengths.padded);
        from_conjugate_.emplace(Fft::Kind::real_inverse, tables.lengths.upsampled);
    }
}

const float* KLinearLine::operator()(const RawLine& line) {
    subtract_(line, recorded());
    if (tables_.upsample > 1) upsample();
    if (tables_.resample.prefilter) prefilter();
    const float* spectrum = tables_.resample.prefilter ? coefficients_.data() : spectrum_.data() + margin;
    switch (tables_.resample.taps) {
        case 1: resample<1>(spectrum); break;
        case 2: resample<2>(spectrum); break;
        default: (*four_taps_)(spectrum, resampled_.data());
    }
    return resampled_.data();
}

// The padding around the recorded samples is initialized to zero and never written.
float* KLinearLine::recorded() {
    float* line = to_conjugate_ ? to_conjugate_->real() : spectrum_.data() + margin;
    return line + tables_.lengths.pad_left;
}

// Up-samples by zero padding in the conjugate domain. The Nyquist bin of an even length is split between both halves
// (docs/algorithms.md 2.5).
void KLinearLine::upsample() {
    const std::int64_t n = tables_.lengths.padded;
    const float scale = 1.0f / static_cast<float>(n);
    to_conjugate_->execute();
    const std::complex<float>* narrow = to_conjugate_->complex_out();
    std::complex<float>* wide = from_conjugate_->complex_in();
    std::transform(narrow, narrow + n / 2 + 1, wide, [scale](std::complex<float> v) { return v * scale; });
    if (n % 2 == 0) wide[n / 2] *= 0.5f;
    std::fill(wide + n / 2 + 1, wide + tables_.lengths.upsampled / 2 + 1, std::complex<float>{});
    from_conjugate_->execute();
    std::copy_n(from_conjugate_->real(), tables_.lengths.upsampled, spectrum_.data() + margin);
}

void KLinearLine::prefilter() {
    const std::int64_t n = tables_.lengths.upsampled;
    float* x = spectrum_.data() + margin;
    for (std::int64_t d = 1; d <= margin; ++d) {
        x[-d] = 2 * x[0] - x[d];
        x[n - 1 + d] = 2 * x[n - 1] - x[n - 1 - d];
    }
    const SplinePrefilter coefficient;
    for (std::int64_t i = 0; i < n + 2; ++i) coefficients_[size(i)] = coefficient(x, i - 1);
}

template <int taps>
void KLinearLine::resample(const float* spectrum) {
    const Resampled<taps> resampled{tables_.resample.base.data(), tables_.resample.weights.data()};
    for (std::int64_t j = 0; j < tables_.lengths.points; ++j) resampled_[size(j)] = resampled(spectrum, j);
}

// out[j] = weight[j] * spectrum[j], four points at a time. Returns the number of points processed.
static std::int64_t weigh_by_fours(const std::complex<float>* weight, const float* spectrum, std::complex<float>* out,
                                   std::int64_t points) {
    const auto* w = reinterpret_cast<const float*>(weight);
    auto* o = reinterpret_cast<float*>(out);
    std::int64_t j = 0;
    for (; j + 4 <= points; j += 4) {
        const Four s = load(spectrum + j);
        store(load(w + 2 * j) * __builtin_shufflevector(s, s, 0, 0, 1, 1), o + 2 * j);
        store(load(w + 2 * j + 4) * __builtin_shufflevector(s, s, 2, 2, 3, 3), o + 2 * j + 4);
    }
    return j;
}

PlainLine::PlainLine(const PlainTables& tables, const LineFormat& format, std::int64_t first_bin)
    : tables_(tables), k_linear_(tables, format),
      transform_(tables.weight.real ? Fft::Kind::real_forward : Fft::Kind::complex_forward, tables.lengths.transform),
      kept_(transform_.complex_out() + first_bin) {}

std::span<const std::complex<float>* const> PlainLine::reconstruct(std::span<const RawLine> lines) {
    weigh(k_linear_(lines.front()));
    transform_.execute();
    return {&kept_, 1};
}

void PlainLine::weigh(const float* spectrum) {
    const std::int64_t points = tables_.lengths.points;
    if (tables_.weight.real) {
        const float* weight = tables_.real_weight.data();
        float* out = transform_.real();
        for (std::int64_t j = 0; j < points; ++j) out[j] = weight[j] * spectrum[j];
    } else {
        const std::complex<float>* weight = tables_.weight.values.data();
        std::complex<float>* out = transform_.complex_in();
        const std::int64_t done = weigh_by_fours(weight, spectrum, out, points);
        for (std::int64_t j = done; j < points; ++j) out[j] = weight[j] * spectrum[j];
    }
}

}  // namespace echolux::cpu
