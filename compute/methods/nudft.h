// The exact transform of a spectrum where it was sampled (docs/algorithms.md 4): all linear stages from the sample less
// its background to the depth bin as one matrix, so nothing is interpolated and only the rows that are kept exist.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// bin[z] = sum over p of at(z, p) * (I[p] - b[p]); not divided by the window's sum, as with every method.
class NudftMatrix {
  public:
    // The spec is valid.
    explicit NudftMatrix(const ReconstructionSpec& spec);

    std::int64_t depth() const { return depth_; }  // rows: the depth bins kept
    std::int64_t samples() const { return static_cast<std::int64_t>(points_.size()); }

    std::complex<double> at(std::int64_t z, std::int64_t p) const;

    // No element is greater.
    double largest() const;

  private:
    std::int64_t first_bin_;
    std::int64_t depth_;
    double transform_;                           // length, in points of the uniform grid
    std::vector<double> points_;                 // where each sample lies on the uniform grid
    std::vector<std::complex<double>> weights_;  // window or shaping, dispersion, share of the grid
};

// Whether this spec goes through the matrix. Without a k map it does not: the plain transform is exact then.
bool uses_nudft(const ReconstructionSpec& spec);

// Elements of the largest matrix that is accepted: 2 GiB on the CPU.
inline constexpr std::int64_t max_nudft_elements = std::int64_t{1} << 28;

}  // namespace echolux
