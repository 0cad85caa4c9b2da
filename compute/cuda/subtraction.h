// First step of methods on the GPU: converts raw lines to floats and subtracts their background (docs/algorithms.md
// 2.1, 2.2).
#pragma once

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// Converts batches of lines to floats.
class Subtraction {
  public:
    // `rolling_width` is 0 without a rolling background. Throws Error{out_of_memory}.
    Subtraction(const LineFormat& format, std::int64_t rolling_width, std::int64_t max_lines);

    // Enqueues to `spectra` [lines][samples], with `pitch` floats between lines.
    void enqueue(cudaStream_t stream, const RawLines& lines, float* spectra, std::int64_t pitch) const;

  private:
    LineFormat format_;
    std::int64_t rolling_width_;
    DeviceBuffer sums_;  // prefix sums of the rolling mean, double [lines][samples]
};

}  // namespace echolux::cuda
