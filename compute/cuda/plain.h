// The plain method on the GPU in separate passes: weighted points of the k grid, transformed with cuFFT. For recipes
// that the fused kernel does not support, and for comparison with it.
#pragma once

#include "compute/cuda/fft.h"
#include "compute/cuda/k_linear.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"

namespace echolux::cuda {

// Returns tables with window x shaping x dispersion as weight. `tables` must outlive them. `fused` selects a single
// kernel if possible. Throws Error{device, out_of_memory}.
KLinearTables plain_weighted_tables(const PlainTables& tables, bool fused);

// Transforms batches of lines on one stream.
class PlainMethod : public LineMethod {
  public:
    // The tables must outlive this object. Calls process up to about `max_lines` lines. Throws Error{device,
    // out_of_memory}.
    PlainMethod(const KLinearTables& tables, const LineFormat& format, DepthRange kept, std::int64_t max_lines,
                cudaStream_t stream);

    std::int64_t lines_at_once() const override { return weighted_.lines_at_once(); }
    DeviceBins enqueue(const RawLines& lines) override;

  private:
    KLinearLines weighted_;
    std::int64_t first_bin_;  // first kept bin
    std::int64_t bins_of_a_line_;
    Fft transform_;
    DeviceBuffer bins_;  // complex [lines][transform / 2 + 1] for real transforms; complex ones are in place
};

}  // namespace echolux::cuda
