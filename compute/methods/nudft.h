// Exact transform at the recorded sample positions (docs/algorithms.md 4). One matrix combines all linear steps from
// the background-subtracted sample to the depth bin, so nothing is interpolated and only the kept bins have rows.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// bin[z] = sum over p of at(z, p) * (I[p] - b[p]). As with every method, not divided by the sum of the window.
class NudftMatrix {
  public:
    // The spec must be valid.
    explicit NudftMatrix(const ReconstructionSpec& spec);

    std::int64_t depth() const { return depth_; }  // rows: kept depth bins
    // Columns: recorded samples.
    std::int64_t samples() const { return static_cast<std::int64_t>(points_.size()); }

    // Returns one element. z counts kept bins.
    std::complex<double> at(std::int64_t z, std::int64_t p) const;

    // Returns an upper bound of the magnitude of all elements.
    double largest() const;

  private:
    std::int64_t first_bin_;
    std::int64_t depth_;
    double transform_;                           // length, in points of the uniform grid
    std::vector<double> points_;                 // position of each sample on the uniform grid
    std::vector<std::complex<double>> weights_;  // window or shaping, dispersion, share of the grid
};

// Returns whether a spec uses the matrix. Without a k map it does not, because the plain transform is then exact.
bool uses_nudft(const ReconstructionSpec& spec);

// Max number of matrix elements: 2 GiB on the CPU.
inline constexpr std::int64_t max_nudft_elements = std::int64_t{1} << 28;

}  // namespace echolux
