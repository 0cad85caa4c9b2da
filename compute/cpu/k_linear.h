// First steps of all methods that transform a uniform grid: subtract the background of a raw line, up-sample if
// requested, and resample to the uniform k grid.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/cpu/four_taps.h"
#include "compute/cpu/line_method.h"
#include "compute/fft/fft.h"
#include "compute/plan/tables.h"
#include "compute/steps/sample.h"

namespace echolux::cpu {

// ---- First step of all methods on the CPU: converts a raw line to floats and subtracts its background
// (docs/algorithms.md 2.1, 2.2).

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

// ---- The plain method on the CPU: converts one raw line to complex depth bins by resampling to the k grid, weighting
// and transforming. Each worker thread owns one PlainLine with its buffers and transforms; tables are shared.

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
