// From a raw line to its points on the uniform k grid: subtract, (up-sample,) resample. What the methods that transform
// a uniform grid begin with.
#pragma once

#include <optional>
#include <vector>

#include "compute/cpu/four_taps.h"
#include "compute/cpu/line_method.h"
#include "compute/cpu/subtraction.h"
#include "compute/fft/fft.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cpu {

class KLinearLine {
  public:
    KLinearLine(const PlainTables& tables, const LineFormat& format);

    // [points]; valid until the next call.
    const float* operator()(const RawLine& line);

  private:
    float* recorded();  // where the recorded samples go
    void upsample();
    void prefilter();
    template <int taps>
    void resample(const float* spectrum);

    const PlainTables& tables_;
    Subtraction subtract_;
    std::vector<float> spectrum_;      // margin, (up-sampled) line, margin
    std::vector<float> coefficients_;  // of the spline, from sample -1 on
    std::vector<float> resampled_;
    std::optional<FourTaps> four_taps_;  // where a point has four
    std::optional<Fft> to_conjugate_;    // for up-sampling
    std::optional<Fft> from_conjugate_;
};

}  // namespace echolux::cpu
