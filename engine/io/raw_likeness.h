// Similarity measures for rows of samples, used to guess the layout of raw spectra.
#pragma once

#include <cstdint>
#include <vector>

namespace echolux {

// Correlation (-1 to 1) of samples `lag` apart.
class Autocorrelation {
  public:
    explicit Autocorrelation(const std::vector<float>& samples);

    double at(std::int64_t lag) const;  // 0 if fewer than 64 pairs remain

  private:
    std::vector<float> samples_;  // normalised to mean 0 and variance 1
};

// Returns the second differences, which emphasise fringes and pixel patterns.
std::vector<float> fine_structure_of(const std::vector<float>& samples);

// Features of each line that do not depend on the phase of its fringes: power per octave of depth, after subtracting
// the mean line. [lines][features], normalised so that a mean product is a correlation.
class LineFeatures {
  public:
    // Divides `samples` from index `first` into lines of length `line`.
    LineFeatures(const std::vector<float>& samples, std::int64_t first, std::int64_t line);

    std::int64_t lines() const { return lines_; }
    double correlation(std::int64_t lag) const;  // of lines `lag` apart

    // Returns the correlation of the samples of a line with the mean line.
    double likeness_to_mean(std::int64_t line) const;

  private:
    std::int64_t lines_ = 0;
    std::int64_t features_ = 0;
    std::vector<float> values_;
    std::vector<double> to_mean_;
};

}  // namespace echolux
