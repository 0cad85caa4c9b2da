// How alike neighbours are in a row of samples: the measures by which the shape of raw spectra is found.
#pragma once

#include <cstdint>
#include <vector>

namespace echolux {

// Correlation, -1 to 1, of samples that lie `lag` apart.
class Autocorrelation {
  public:
    explicit Autocorrelation(const std::vector<float>& samples);

    double at(std::int64_t lag) const;  // 0 where fewer than a few pairs are left

  private:
    std::vector<float> samples_;  // of mean 0 and variance 1
};

// What sets one line of spectra apart from the others, whatever its phase: the power in each octave of depth, its mean
// over all lines taken away. [lines][features], both normalised so that a mean product is a correlation.
class LineFeatures {
  public:
    LineFeatures(const std::vector<float>& samples, std::int64_t first, std::int64_t line);

    std::int64_t lines() const { return lines_; }
    double correlation(std::int64_t lag) const;  // of lines that lie so many apart

    // Correlation of one line with the mean of all, samples themselves.
    double likeness_to_mean(std::int64_t line) const;

  private:
    std::int64_t lines_ = 0;
    std::int64_t features_ = 0;
    std::vector<float> values_;
    std::vector<double> to_mean_;
};

}  // namespace echolux
