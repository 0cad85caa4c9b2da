// The plain method on the CPU: one raw line to complex depth bins. Subtract, (up-sample,) resample, weight, transform.
// Each worker thread owns one PlainLine with its buffers and transforms; the tables are shared.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/cpu/background.h"
#include "compute/cpu/fft.h"
#include "compute/cpu/read_line.h"
#include "compute/tables.h"

namespace echolux {

struct PlainTables {
    Lengths lengths;
    ResampleTable resample;
    SpectralWeight weight;
    std::vector<float> real_weight;  // real parts of weight.values
    std::int64_t upsample = 1;
    std::int64_t rolling_width = 0;  // 0: no rolling background
};

class PlainLine {
  public:
    PlainLine(const PlainTables& tables, const LineFormat& format);

    // Depth bins [0, lengths.bins), not yet scaled; valid until the next call.
    const std::complex<float>* reconstruct(const std::byte* line, BackgroundLine background);

  private:
    float* recorded();  // where the recorded samples go
    void subtract(const std::byte* line, BackgroundLine background);
    void subtract_rolling_mean();
    void upsample();
    void prefilter();
    template <int taps>
    void resample(const float* spectrum);
    void weigh();

    const PlainTables& tables_;
    LineFormat format_;
    std::vector<float> spectrum_;      // margin, (up-sampled) line, margin
    std::vector<float> coefficients_;  // of the spline, from sample -1 on
    std::vector<float> resampled_;     // on the k grid
    std::vector<double> sums_;         // of the rolling mean
    std::optional<Fft> to_conjugate_;  // for up-sampling
    std::optional<Fft> from_conjugate_;
    Fft transform_;
};

}  // namespace echolux
