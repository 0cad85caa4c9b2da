// The kernels of the NUFFT (docs/transforms.md 7): how a sample between the points of a uniform grid is given to
// those around it. Gaussian (L. Greengard, J.-Y. Lee, SIAM Rev. 46, 443 (2004)), Kaiser-Bessel (J. I. Jackson et al.,
// IEEE Trans. Med. Imaging 10, 473 (1991); P. J. Beatty et al., ibid. 24, 799 (2005)), exponential of a semicircle (A.
// Barnett, J. Magland, L. af Klinteberg, SIAM J. Sci. Comput. 41, C479 (2019)).
#pragma once

#include <cstdint>

#include "compute/plan/params.h"

namespace echolux {

// A kernel over `width` points of the finer grid, and its transform. With W >= 2 and R >= 1.25, as they are described,
// beta = pi sqrt((W/R)^2 (R - 1/2)^2 - 0.8) of Kaiser-Bessel is always real.
class SpreadingKernel {
  public:
    explicit SpreadingKernel(const NufftRecipe& recipe);

    double at(double distance) const;                 // in points of the finer grid; 0 from width / 2 on
    double transform(double cycles_per_point) const;  // of what at() gives
    std::int64_t width() const { return static_cast<std::int64_t>(width_); }

  private:
    GridKernel kernel_;
    double width_;
    double shape_;  // b of the Gaussian, beta of the others
};

// Length of the finer grid for a transform: even, and as many points as the oversampling asks for, or one more.
std::int64_t finer_grid(const NufftRecipe& recipe, std::int64_t transform);

}  // namespace echolux
