#include "compute/cpu/k_linear.h"

#include <algorithm>

#include "compute/steps/sample.h"

namespace echolux::cpu {
namespace {

constexpr std::int64_t margin = SplinePrefilter::reach + 1;

std::size_t size(std::int64_t n) {
    return static_cast<std::size_t>(n);
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

}  // namespace echolux::cpu
