// Natural cubic spline through (x, y), in double: for tables, not for spectra.
#pragma once

#include <span>
#include <vector>

namespace echolux {

class CubicSpline {
  public:
    // x strictly ascending, at least two points.
    CubicSpline(std::span<const double> x, std::span<const double> y);

    double operator()(double x) const;  // extrapolates by the end pieces

  private:
    std::vector<double> x_;
    std::vector<double> y_;
    std::vector<double> curvature_;  // second derivative at the knots
};

}  // namespace echolux
