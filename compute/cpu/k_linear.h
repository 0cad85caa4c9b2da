// First steps of all methods that transform a uniform grid: subtract the background of a raw line, up-sample if
// requested, and resample to the uniform k grid.
#pragma once

#include <optional>
#include <vector>

#include "compute/cpu/four_taps.h"
#include "compute/cpu/line_method.h"
#include "compute/cpu/subtraction.h"
#include "compute/fft/fft.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cpu {

// Resamples lines to the k grid. Owns the buffers of one thread; the tables must outlive it.
class KLinearLine {
  public:
    KLinearLine(const PlainTables& tables, const LineFormat& format);

    // Returns [points]. Valid until the next call.
    const float* operator()(const RawLine& line);

  private:
    float* recorded();  // input position of the recorded samples
    // Pads the conjugate domain with zeros (docs/algorithms.md 2.5).
    void upsample();
    // Converts samples to cubic B-spline coefficients.
    void prefilter();
    template <int taps>
    void resample(const float* spectrum);

    const PlainTables& tables_;
    Subtraction subtract_;
    std::vector<float> spectrum_;      // margin, line (up-sampled if requested), margin
    std::vector<float> coefficients_;  // spline coefficients, starting at sample -1
    std::vector<float> resampled_;
    std::optional<FourTaps> four_taps_;  // if there are four taps per point
    std::optional<Fft> to_conjugate_;    // for up-sampling
    std::optional<Fft> from_conjugate_;
};

}  // namespace echolux::cpu
