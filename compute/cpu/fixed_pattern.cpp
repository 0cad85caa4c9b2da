#include "compute/cpu/fixed_pattern.h"

#include <limits>

#include "compute/cpu/median.h"

namespace echolux::cpu {
namespace {

// One depth bin over the lines of a B-scan.
struct Column {
    std::complex<float>* first;
    std::int64_t stride;

    std::complex<float>& operator[](std::int64_t line) const { return first[line * stride]; }
};

// Median of real and imaginary parts separately. `column` is scratch memory for `lines` floats.
std::complex<float> median_pattern(const Column& bins, std::int64_t lines, float* column) {
    for (std::int64_t l = 0; l < lines; ++l) column[l] = bins[l].real();
    const double re = median_of(column, lines);
    for (std::int64_t l = 0; l < lines; ++l) column[l] = bins[l].imag();
    return {static_cast<float>(re), static_cast<float>(median_of(column, lines))};
}

std::complex<double> mean_of(const Column& bins, std::int64_t begin, std::int64_t end) {
    std::complex<double> sum;
    for (std::int64_t l = begin; l < end; ++l) sum += std::complex<double>(bins[l]);
    return sum / static_cast<double>(end - begin);
}

// Returns the mean of the segment with the smallest variance.
std::complex<float> min_variant_mean(const Column& bins, std::int64_t lines, std::int64_t segments) {
    std::complex<double> best;
    double min = std::numeric_limits<double>::infinity();
    for (std::int64_t s = 0; s < segments; ++s) {
        const std::int64_t begin = lines * s / segments;
        const std::int64_t end = lines * (s + 1) / segments;
        const std::complex<double> mean = mean_of(bins, begin, end);
        double variance = 0;
        for (std::int64_t l = begin; l < end; ++l) variance += std::norm(std::complex<double>(bins[l]) - mean);
        variance /= static_cast<double>(end - begin);
        if (variance < min) {
            min = variance;
            best = mean;
        }
    }
    return std::complex<float>(best);
}

}  // namespace

void remove_fixed_pattern(FixedPattern mode, std::int64_t segments, std::complex<float>* b_scan, std::int64_t lines,
                          std::int64_t depth, std::int64_t z, float* column) {
    const Column bins{b_scan + z, depth};
    const std::complex<float> pattern =
        mode == FixedPattern::median ? median_pattern(bins, lines, column) : min_variant_mean(bins, lines, segments);
    for (std::int64_t l = 0; l < lines; ++l) bins[l] -= pattern;
}

}  // namespace echolux::cpu
