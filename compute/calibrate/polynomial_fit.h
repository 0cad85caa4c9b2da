// Polynomial fit by weighted least squares, in Chebyshev polynomials so that orders up to about ten stay well
// conditioned.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace echolux {

// A fitted polynomial on -1..1.
class PolynomialFit {
  public:
    // x in -1..1, weights >= 0. x, y and weights have the same length, which exceeds `order`. Throws Error{bad_setting}
    // if too few points have weight.
    PolynomialFit(std::span<const double> x, std::span<const double> y, std::span<const double> weights,
                  std::int64_t order);

    // Returns the value of the polynomial at x.
    double operator()(double x) const;

    // Returns the coefficients of 1, x, x^2, ...
    std::vector<double> powers() const;

  private:
    std::vector<double> chebyshev_;  // coefficients of T0, T1, ...
};

}  // namespace echolux
