// The plain method on the CPU: one raw line to complex depth bins. To the k grid, weight, transform.
// Each worker thread owns one PlainLine with its buffers and transforms; the tables are shared.
#pragma once

#include <complex>
#include <cstdint>

#include "compute/cpu/k_linear.h"
#include "compute/cpu/line_method.h"
#include "compute/fft/fft.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cpu {

class PlainLine : public LineMethod {
  public:
    // Bins from `first_bin` on are kept.
    PlainLine(const PlainTables& tables, const LineFormat& format, std::int64_t first_bin);

    std::int64_t lines_at_once() const override { return 1; }
    std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) override;

  private:
    void weigh(const float* spectrum);

    const PlainTables& tables_;
    KLinearLine k_linear_;
    Fft transform_;
    const std::complex<float>* kept_;  // of the transform's output
};

}  // namespace echolux::cpu
