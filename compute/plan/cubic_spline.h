// Natural cubic spline through points (x, y), in double precision. Used to build tables, not to process spectra.
#pragma once

#include <span>
#include <vector>

namespace echolux {

// Owns copies of its knots.
class CubicSpline {
  public:
    // x must be strictly ascending and have at least two points.
    CubicSpline(std::span<const double> x, std::span<const double> y);

    double operator()(double x) const;  // extrapolates the end pieces

  private:
    std::vector<double> x_;
    std::vector<double> y_;
    std::vector<double> curvature_;  // second derivative at the knots
};

}  // namespace echolux
