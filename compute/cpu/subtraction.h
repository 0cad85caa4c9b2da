// The first step of every method on the CPU: a raw line less its background, as floats (docs/algorithms.md 2.1, 2.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/cpu/line_method.h"
#include "compute/steps/line_format.h"

namespace echolux::cpu {

class Subtraction {
  public:
    // `rolling_width` 0: no rolling background.
    Subtraction(const LineFormat& format, std::int64_t rolling_width);

    // spectrum: [samples].
    void operator()(const RawLine& line, float* spectrum);

  private:
    void fetch_ahead(const std::byte* line) const;
    void subtract_rolling_mean(float* spectrum);

    LineFormat format_;
    std::int64_t rolling_width_;
    std::vector<double> sums_;  // of the rolling mean
};

}  // namespace echolux::cpu
