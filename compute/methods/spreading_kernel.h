// Spreading kernels of the NUFFT (docs/algorithms.md 7), which distribute a sample over the neighbouring points of a
// uniform grid. Gaussian: L. Greengard, J.-Y. Lee, SIAM Rev. 46, 443 (2004). Kaiser-Bessel: J. I. Jackson et al., IEEE
// Trans. Med. Imaging 10, 473 (1991); P. J. Beatty et al., ibid. 24, 799 (2005). Exponential of a semicircle: A.
// Barnett, J. Magland, L. af Klinteberg, SIAM J. Sci. Comput. 41, C479 (2019).
#pragma once

#include <cstdint>

#include "compute/plan/params.h"

namespace echolux {

// A kernel over `width` points of the finer grid, and its Fourier transform. The described limits W >= 2 and R >= 1.25
// keep the Kaiser-Bessel parameter beta = pi sqrt((W/R)^2 (R - 1/2)^2 - 0.8) real.
class SpreadingKernel {
  public:
    explicit SpreadingKernel(const NufftRecipe& recipe);

    double at(double distance) const;                 // distance in points of the finer grid; 0 beyond width / 2
    double transform(double cycles_per_point) const;  // Fourier transform of at()
    std::int64_t width() const { return static_cast<std::int64_t>(width_); }

  private:
    GridKernel kernel_;
    double width_;
    double shape_;  // b of the Gaussian, beta of the others
};

// Returns the length of the finer grid: the transform length times the oversampling, rounded up to an even number.
std::int64_t finer_grid(const NufftRecipe& recipe, std::int64_t transform);

}  // namespace echolux
