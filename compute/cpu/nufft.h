// NUFFT on the CPU: with tables shared by all lines or, if each line has its own sample positions, with weights
// computed per line.
#pragma once

#include <complex>
#include <vector>

#include "compute/cpu/line_method.h"
#include "compute/cpu/subtraction.h"
#include "compute/fft/fft.h"
#include "compute/methods/k_jitter.h"
#include "compute/methods/nonuniform.h"

namespace echolux::cpu {

// Reconstructs lines one at a time. The tables must outlive it.
class NufftLine : public LineMethod {
  public:
    // `moved` is null if all lines follow the k map.
    NufftLine(const NufftTables& tables, const MovedSamples* moved, const LineFormat& format,
              std::int64_t rolling_width);

    std::int64_t lines_at_once() const override { return 1; }
    std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) override;

  private:
    void spread_moved(const LineMap& map);
    void spread_real();
    void spread_complex();

    const NufftTables& tables_;
    const MovedSamples* moved_;
    Subtraction subtract_;
    std::vector<float> spectrum_;                // [samples]
    std::vector<std::complex<float>> weighted_;  // [samples], for complex weights
    Fft transform_;
    std::vector<std::complex<float>> bins_;
    const std::complex<float>* bins_of_line_;
};

}  // namespace echolux::cpu
