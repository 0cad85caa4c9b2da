// First step of all methods on the CPU: converts a raw line to floats and subtracts its background (docs/algorithms.md
// 2.1, 2.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/cpu/line_method.h"
#include "compute/steps/sample.h"

namespace echolux::cpu {

// Converts lines to floats. Owns the buffer of one thread.
class Subtraction {
  public:
    // `rolling_width` is 0 without a rolling background.
    Subtraction(const LineFormat& format, std::int64_t rolling_width);

    // Writes [samples] to `spectrum`.
    void operator()(const RawLine& line, float* spectrum);

  private:
    void fetch_ahead(const std::byte* line) const;
    // Subtracts the mean over rolling_width samples on either side, in place.
    void subtract_rolling_mean(float* spectrum);

    LineFormat format_;
    std::int64_t rolling_width_;
    std::vector<double> sums_;  // prefix sums, for the rolling mean
};

}  // namespace echolux::cpu
