#include "engine/simulate/camera.h"

#include <algorithm>
#include <cmath>

#include "engine/simulate/counter_random.h"

namespace echolux {
namespace {

constexpr std::size_t quantiles = 4096;
constexpr double calibration_lines = 1000;

double normal_cdf(double x) {
    return std::erfc(-x / std::sqrt(2.0)) / 2;
}

// Returns x with normal_cdf(x) = p, by bisection. Slow, but called only to build a table.
double normal_quantile(double p) {
    double low = -10;
    double high = 10;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (normal_cdf(middle) < p ? low : high) = middle;
    }
    return (low + high) / 2;
}

// Returns equally likely values; the sum of two of them has unit variance.
std::vector<float> normal_table() {
    std::vector<double> values(quantiles);
    double power = 0;
    for (std::size_t i = 0; i < quantiles; ++i) {
        values[i] = normal_quantile((static_cast<double>(i) + 0.5) / quantiles);
        power += values[i] * values[i];
    }
    const double scale = std::sqrt(quantiles / power / 2);
    std::vector<float> table(quantiles);
    for (std::size_t i = 0; i < quantiles; ++i) table[i] = static_cast<float>(values[i] * scale);
    return table;
}

// Returns a normal random number of unit variance: the sum of two table values selected by a hash.
float normal(const std::vector<float>& table, std::uint64_t bits) {
    return table[bits % quantiles] + table[(bits >> 20) % quantiles];
}

}  // namespace

LineScanCamera::LineScanCamera(const Simulation& s, const Spectrometer& spectrometer)
    : normal_(normal_table()), dark_(static_cast<float>(s.dark_counts)),
      full_scale_(static_cast<float>((std::int64_t{1} << s.adc_bits) - 1)),
      key_(hashed(static_cast<std::uint64_t>(s.seed), 0xca3e7a)) {
    const double counts = s.full_well_electrons > 0 ? static_cast<double>(full_scale_) / s.full_well_electrons : 0;
    const double read_noise = s.read_noise_electrons * (counts > 0 ? counts : 1);
    shot_variance_ = static_cast<float>(counts);
    read_variance_ = static_cast<float>(read_noise * read_noise);
    for (const double power : spectrometer.source) {
        reference_.push_back(static_cast<float>(power * s.reference_level * static_cast<double>(full_scale_)));
    }
}

void LineScanCamera::expose(std::span<const float> fringes, std::uint64_t line, std::span<std::uint16_t> counts) const {
    const std::uint64_t key = hashed(key_, 1, line);
    for (std::size_t p = 0; p < counts.size(); ++p) {
        const float light = std::max(reference_[p] * (1 + fringes[p]), 0.0F);
        const float noise = std::sqrt(light * shot_variance_ + read_variance_) * normal(normal_, hashed(key + p));
        const float level = std::clamp(dark_ + light + noise + 0.5F, 0.0F, full_scale_);
        counts[p] = static_cast<std::uint16_t>(level);
    }
}

std::vector<float> LineScanCamera::averaged(float light, std::uint64_t key) const {
    std::vector<float> mean;
    for (std::size_t p = 0; p < reference_.size(); ++p) {
        const float level = light * reference_[p];
        const float variance = level * shot_variance_ + read_variance_;
        const float noise = std::sqrt(variance / static_cast<float>(calibration_lines));
        mean.push_back(std::clamp(dark_ + level + noise * normal(normal_, hashed(key_, key, p)), 0.0F, full_scale_));
    }
    return mean;
}

std::vector<float> LineScanCamera::background() const {
    return averaged(1, 2);
}

std::vector<float> LineScanCamera::dark() const {
    return averaged(0, 3);
}

}  // namespace echolux
