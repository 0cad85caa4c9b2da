// A straight or bent line through values, which a few that lie far off do not move.
#pragma once

#include <array>
#include <vector>

namespace echolux {

struct LineFit {
    std::array<double, 3> by_power{};  // a + b s + c s^2; c is 0 unless the values ask for it
    double slope_error = 0;            // standard error of the slope at s = 0
    bool is_known = false;             // at least three values
};

// `correlated`: how many neighbouring values share their noise.
LineFit fitted_line(const std::vector<double>& s, const std::vector<double>& values, double correlated);

// Weighted least squares: the coefficients of `columns` that come nearest to `values`, by the normal equations; the
// diagonal of their inverse is what variances are made of. Empty: the columns depend on one another.
struct Coefficients {
    std::vector<double> values, variance_factors;
    double residual = 0;  // sum of weighted squares
};
Coefficients least_squares(const std::vector<std::vector<double>>& columns, const std::vector<double>& values,
                           const std::vector<double>& weights);

}  // namespace echolux
