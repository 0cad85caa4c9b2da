// The plain method on the CPU: converts one raw line to complex depth bins by resampling to the k grid, weighting and
// transforming. Each worker thread owns one PlainLine with its buffers and transforms; tables are shared.
#pragma once

#include <complex>
#include <cstdint>

#include "compute/cpu/k_linear.h"
#include "compute/cpu/line_method.h"
#include "compute/fft/fft.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cpu {

// Reconstructs lines one at a time. The tables must outlive it.
class PlainLine : public LineMethod {
  public:
    // Keeps bins from `first_bin` on.
    PlainLine(const PlainTables& tables, const LineFormat& format, std::int64_t first_bin);

    std::int64_t lines_at_once() const override { return 1; }
    std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) override;

  private:
    // Multiplies the points of the k grid by the spectral weight and stores them as input of the transform.
    void weigh(const float* spectrum);

    const PlainTables& tables_;
    KLinearLine k_linear_;
    Fft transform_;
    const std::complex<float>* kept_;  // in the transform's output
};

}  // namespace echolux::cpu
