#include "compute/calibrate/fitting.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "compute/indexing.h"
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
        require(std::abs(rows[c][c]) > 1e-12 * std::abs(rows[0][0]), "too few points have enough signal for a fit",
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
    const auto terms = index(order) + 1;
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

// Minimizes a unimodal function in low .. high.
static double golden_section(const std::function<double(double)>& f, double low, double high) {
    constexpr double share = 1 / std::numbers::phi;
    constexpr int steps = 13;  // shrink the range to 0.2 %
    double left = high - share * (high - low), right = low + share * (high - low);
    double at_left = f(left), at_right = f(right);
    for (int step = 0; step < steps; ++step) {
        if (at_left < at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - share * (high - low);
            at_left = f(left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + share * (high - low);
            at_right = f(right);
        }
    }
    return at_left < at_right ? left : right;
}

double min_along(const ValuesAt& f, double centre, double range) {
    constexpr int half = 20;             // grid points on either side
    std::vector<double> places{centre};  // first, so that it wins ties
    for (int i = -half; i <= half; ++i) {
        if (i != 0) places.push_back(centre + range * i / half);
    }
    const std::vector<double> values = f(places);
    const double best = places[index(std::min_element(values.begin(), values.end()) - values.begin())];
    const auto at = [&](double place) { return f({place}).front(); };
    return golden_section(at, best - range / half, best + range / half);
}

Minimum min_nearby(const std::function<double(double, double)>& f, const std::array<double, 2>& start, double step) {
    int calls = 0;
    const auto valued = [&](double x, double y) {
        ++calls;
        return Minimum{{x, y}, f(x, y)};
    };
    const auto better = [](const Minimum& a, const Minimum& b) { return a.value < b.value; };
    std::array<Minimum, 3> corners{valued(start[0], start[1]), valued(start[0] + step, start[1]),
                                   valued(start[0], start[1] + step)};
    while (true) {
        std::sort(corners.begin(), corners.end(), better);
        const auto& [best, middle, worst] = corners;
        const double size =
            std::max(std::abs(worst.place[0] - best.place[0]) + std::abs(middle.place[0] - best.place[0]),
                     std::abs(worst.place[1] - best.place[1]) + std::abs(middle.place[1] - best.place[1]));
        if (size < 1e-4 * step || calls > 120) return best;
        // Extrapolates from the worst corner through the centre of the other two
        const auto beyond = [&](double share) {
            const double x = (best.place[0] + middle.place[0]) / 2, y = (best.place[1] + middle.place[1]) / 2;
            return valued(x + share * (x - worst.place[0]), y + share * (y - worst.place[1]));
        };
        const Minimum reflected = beyond(1);
        if (better(reflected, best)) {
            corners[2] = std::min(reflected, beyond(2), better);
        } else if (better(reflected, middle)) {
            corners[2] = reflected;
        } else if (const Minimum inside = beyond(better(reflected, worst) ? 0.5 : -0.5);
                   better(inside, std::min(reflected, worst, better))) {
            corners[2] = inside;
        } else {
            for (Minimum* corner : {&corners[1], &corners[2]}) {
                *corner =
                    valued((corner->place[0] + corners[0].place[0]) / 2, (corner->place[1] + corners[0].place[1]) / 2);
            }
        }
    }
}

}  // namespace echolux
