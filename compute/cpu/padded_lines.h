// Lines of floats with zeros around each, so that sums at a lag need no bounds, and such sums over depth, eight depths
// at a time and so always in the same order. Complex lines have their imaginary parts in the line that follows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/steps/phasor.h"

namespace echolux::cpu {

class PaddedLines {
  public:
    PaddedLines() = default;
    PaddedLines(std::int64_t lines, std::int64_t depth, std::int64_t max_lag);

    std::int64_t depth() const { return depth_; }
    std::int64_t stride() const { return stride_; }

    // Depth 0. What is written beyond the depth spoils sums.
    float* line(std::int64_t i) { return values_.data() + i * stride_ + first_; }
    const float* line(std::int64_t i) const { return values_.data() + i * stride_ + first_; }

    // Of lines that have real and imaginary parts.
    float* complex_line(std::int64_t i) { return line(2 * i); }
    const float* complex_line(std::int64_t i) const { return line(2 * i); }
    Phasor at(std::int64_t i, std::int64_t z) const { return {line(2 * i)[z], line(2 * i + 1)[z]}; }

  private:
    std::int64_t depth_ = 0, first_ = 0, stride_ = 0;
    std::vector<float> values_;
};

// Of a line.
float sum_of(const float* line, std::int64_t depth);

// sums[i]: of a times others[i]. Lines may begin at a lag.
void sum_products(const float* a, std::span<const float* const> others, std::int64_t depth, float* sums);

// The same of complex lines: of others[i] times the conjugate of a. `stride`: to imaginary parts.
void sum_differences(const float* a, std::span<const float* const> others, std::int64_t stride, std::int64_t depth,
                     Phasor* sums);

}  // namespace echolux::cpu
