// Least squares and minimization for calibrations.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace echolux {

// ---- Polynomial fit by weighted least squares, in Chebyshev polynomials so that orders up to about ten stay well
// conditioned.

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

// ---- Derivative-free minimization: along a line by a grid and golden-section search, in a plane by the simplex of J.
// Nelder and R. Mead (Computer Journal 7, 1965).

// Returns the values of a function at several independent points in one call.
using ValuesAt = std::function<std::vector<double>(const std::vector<double>&)>;

// Minimizes f in centre - range .. centre + range: a grid of 41 points in one call, then golden-section search between
// the neighbours of the best point. 56 evaluations.
double min_along(const ValuesAt& f, double centre, double range);

// Position and value of a minimum in two dimensions.
struct Minimum {
    std::array<double, 2> place{};
    double value = 0;
};

// Returns the nearest minimum of f, starting with steps of `step`. Stops at 1e-4 of the step or after 120 evaluations.
Minimum min_nearby(const std::function<double(double, double)>& f, const std::array<double, 2>& start, double step);

}  // namespace echolux
