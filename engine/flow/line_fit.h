// Fits a straight or quadratic line that is robust to a few outliers.
#pragma once

#include <array>
#include <vector>

namespace echolux {

struct LineFit {
    std::array<double, 3> by_power{};  // a + b s + c s^2; c is 0 unless it is significant
    double slope_error = 0;            // standard error of the slope at s = 0
    bool is_known = false;             // false with fewer than three values
};

// `correlated` is the number of neighbouring values that share their noise.
LineFit fitted_line(const std::vector<double>& s, const std::vector<double>& values, double correlated);

// Weighted least squares by the normal equations: finds the combination of `columns` closest to `values`. Variances are
// the noise variance times variance_factors, the diagonal of the inverse. The result is empty if the columns are
// linearly dependent.
struct Coefficients {
    std::vector<double> values, variance_factors;
    double residual = 0;  // weighted sum of squares
};
Coefficients least_squares(const std::vector<std::vector<double>>& columns, const std::vector<double>& values,
                           const std::vector<double>& weights);

}  // namespace echolux
