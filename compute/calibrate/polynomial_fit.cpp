#include "compute/calibrate/polynomial_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compute/plan/choices.h"

namespace echolux {
namespace {

// Returns T0(x) .. T_order(x).
std::vector<double> basis_at(double x, std::size_t order) {
    std::vector<double> t{1, x};
    while (t.size() <= order) t.push_back(2 * x * t[t.size() - 1] - t[t.size() - 2]);
    t.resize(order + 1);
    return t;
}

// Solves rows * unknown = last column by Gaussian elimination with partial pivoting.
std::vector<double> solved(std::vector<std::vector<double>> rows) {
    const std::size_t n = rows.size();
    for (std::size_t c = 0; c < n; ++c) {
        const auto largest =
            std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(c), rows.end(),
                             [c](const auto& a, const auto& b) { return std::abs(a[c]) < std::abs(b[c]); });
        std::swap(rows[c], *largest);
        require(std::abs(rows[c][c]) > 1e-12 * std::abs(rows[0][0]), "too few points have weight for a fit",
                "calibration", "record a brighter spectrum");
        for (std::size_t r = c + 1; r < n; ++r) {
            const double factor = rows[r][c] / rows[c][c];
            for (std::size_t i = c; i <= n; ++i) rows[r][i] -= factor * rows[c][i];
        }
    }
    std::vector<double> unknown(n);
    for (std::size_t r = n; r-- > 0;) {
        double rest = rows[r][n];
        for (std::size_t i = r + 1; i < n; ++i) rest -= rows[r][i] * unknown[i];
        unknown[r] = rest / rows[r][r];
    }
    return unknown;
}

}  // namespace

PolynomialFit::PolynomialFit(std::span<const double> x, std::span<const double> y, std::span<const double> weights,
                             std::int64_t order) {
    const auto terms = static_cast<std::size_t>(order) + 1;
    std::vector<std::vector<double>> normal(terms, std::vector<double>(terms + 1, 0.0));
    for (std::size_t p = 0; p < x.size(); ++p) {
        const std::vector<double> t = basis_at(x[p], terms - 1);
        for (std::size_t r = 0; r < terms; ++r) {
            for (std::size_t c = 0; c < terms; ++c) normal[r][c] += weights[p] * t[r] * t[c];
            normal[r][terms] += weights[p] * t[r] * y[p];
        }
    }
    chebyshev_ = solved(std::move(normal));
}

double PolynomialFit::operator()(double x) const {
    const std::vector<double> t = basis_at(x, chebyshev_.size() - 1);
    double value = 0;
    for (std::size_t i = 0; i < t.size(); ++i) value += chebyshev_[i] * t[i];
    return value;
}

std::vector<double> PolynomialFit::powers() const {
    const std::size_t n = chebyshev_.size();
    std::vector<std::vector<double>> t(n, std::vector<double>(n, 0.0));  // coefficients of each Chebyshev polynomial
    t[0][0] = 1;
    if (n > 1) t[1][1] = 1;
    for (std::size_t i = 2; i < n; ++i) {
        for (std::size_t p = 0; p < n; ++p) t[i][p] = (p > 0 ? 2 * t[i - 1][p - 1] : 0) - t[i - 2][p];
    }
    std::vector<double> factors(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t p = 0; p < n; ++p) factors[p] += chebyshev_[i] * t[i][p];
    }
    return factors;
}

}  // namespace echolux
