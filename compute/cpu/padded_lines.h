// Lines of floats with zero padding, so that correlation sums at any lag need no bounds checks, and such sums over
// depth. Sums process eight depths at a time in a fixed order. The imaginary part of a complex line is stored in the
// following line.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/steps/depth.h"

namespace echolux::cpu {

// Zero-padded lines of equal length in one allocation.
class PaddedLines {
  public:
    PaddedLines() = default;
    PaddedLines(std::int64_t lines, std::int64_t depth, std::int64_t max_lag);

    std::int64_t depth() const { return depth_; }
    std::int64_t stride() const { return stride_; }

    // Returns depth 0 of a line. Writing beyond the depth corrupts sums.
    float* line(std::int64_t i) { return values_.data() + i * stride_ + first_; }
    const float* line(std::int64_t i) const { return values_.data() + i * stride_ + first_; }

    // Accessors for lines with real and imaginary parts.
    float* complex_line(std::int64_t i) { return line(2 * i); }
    const float* complex_line(std::int64_t i) const { return line(2 * i); }
    Phasor at(std::int64_t i, std::int64_t z) const { return {line(2 * i)[z], line(2 * i + 1)[z]}; }

  private:
    std::int64_t depth_ = 0, first_ = 0, stride_ = 0;
    std::vector<float> values_;
};

// Returns the sum of a line.
float sum_of(const float* line, std::int64_t depth);

// Computes sums[i] = sum of a * others[i]. Pointers may be offset by a lag.
void sum_products(const float* a, std::span<const float* const> others, std::int64_t depth, float* sums);

// Computes the same for complex lines: the sum of others[i] * conj(a). `stride` is the distance to imaginary parts.
void sum_differences(const float* a, std::span<const float* const> others, std::int64_t stride, std::int64_t depth,
                     Phasor* sums);

}  // namespace echolux::cpu
