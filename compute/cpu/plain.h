// The plain method on the CPU: one raw line to complex depth bins. Subtract, (up-sample,) resample, weight, transform.
// Each worker thread owns one PlainLine with its buffers and transforms; the tables are shared.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/cpu/fft.h"
#include "compute/cpu/line_method.h"
#include "compute/cpu/subtraction.h"
#include "compute/plan_tables.h"

namespace echolux {

class PlainLine : public LineMethod {
  public:
    // Bins from `first_bin` on are kept.
    PlainLine(const PlainTables& tables, const LineFormat& format, std::int64_t first_bin);

    std::int64_t lines_at_once() const override { return 1; }
    std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) override;

  private:
    float* recorded();  // where the recorded samples go
    void upsample();
    void prefilter();
    template <int taps>
    void resample(const float* spectrum);
    void weigh();

    const PlainTables& tables_;
    Subtraction subtract_;
    std::vector<float> spectrum_;      // margin, (up-sampled) line, margin
    std::vector<float> coefficients_;  // of the spline, from sample -1 on
    std::vector<float> resampled_;     // on the k grid
    std::optional<Fft> to_conjugate_;  // for up-sampling
    std::optional<Fft> from_conjugate_;
    Fft transform_;
    const std::complex<float>* kept_;  // of the transform's output
};

}  // namespace echolux
