#include "compute/plan/cubic.h"

#include <algorithm>
#include <cstddef>

#include "compute/indexing.h"

namespace echolux {

CubicSpline::CubicSpline(std::span<const double> x, std::span<const double> y)
    : x_(x.begin(), x.end()), y_(y.begin(), y.end()), curvature_(x.size(), 0.0) {
    // Tridiagonal system for the second derivatives, which are zero at both ends (Thomas algorithm).
    const std::size_t n = x_.size();
    std::vector<double> upper(n, 0.0);
    for (std::size_t i = 1; i + 1 < n; ++i) {
        const double left = x_[i] - x_[i - 1];
        const double right = x_[i + 1] - x_[i];
        const double slope_change = (y_[i + 1] - y_[i]) / right - (y_[i] - y_[i - 1]) / left;
        const double pivot = 2 * (left + right) - left * upper[i - 1];
        upper[i] = right / pivot;
        curvature_[i] = (6 * slope_change - left * curvature_[i - 1]) / pivot;
    }
    for (std::size_t i = n - 1; i-- > 1;) curvature_[i] -= upper[i] * curvature_[i + 1];
}

double CubicSpline::operator()(double x) const {
    const auto above = std::upper_bound(x_.begin() + 1, x_.end() - 1, x);
    const auto i = index(above - x_.begin());
    const double h = x_[i] - x_[i - 1];
    const double a = (x_[i] - x) / h;
    const double b = 1 - a;
    return a * y_[i - 1] + b * y_[i] +
           ((a * a * a - a) * curvature_[i - 1] + (b * b * b - b) * curvature_[i]) * h * h / 6;
}

}  // namespace echolux
