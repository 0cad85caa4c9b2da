#include "engine/flow/line_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace echolux {
namespace {

constexpr std::size_t few_for_bend = 12;  // min number of values for a quadratic fit
constexpr double clear_bend = 3;          // in standard errors

// Returns the weighted inner product.
double sum_of(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& weights) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i] * weights[i];
    return sum;
}

// Inverts in place by Gauss-Jordan elimination with partial pivoting. Returns false if the matrix is singular.
bool inverted(std::vector<std::vector<double>>& m) {
    const std::size_t n = m.size();
    std::vector<std::vector<double>> inverse(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) inverse[i][i] = 1;
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (std::size_t r = c + 1; r < n; ++r) {
            if (std::abs(m[r][c]) > std::abs(m[pivot][c])) pivot = r;
        }
        if (std::abs(m[pivot][c]) < 1e-12) return false;
        std::swap(m[c], m[pivot]);
        std::swap(inverse[c], inverse[pivot]);
        const double scale = 1 / m[c][c];
        for (std::size_t k = 0; k < n; ++k) m[c][k] *= scale, inverse[c][k] *= scale;
        for (std::size_t r = 0; r < n; ++r) {
            if (r == c) continue;
            const double factor = m[r][c];
            for (std::size_t k = 0; k < n; ++k) m[r][k] -= factor * m[c][k], inverse[r][k] -= factor * inverse[c][k];
        }
    }
    m = inverse;
    return true;
}

// Returns (s / scale)^power.
std::vector<double> powers_of(const std::vector<double>& s, double scale, int power) {
    std::vector<double> column;
    for (const double one : s) column.push_back(std::pow(one / scale, power));
    return column;
}

double of_power(const Coefficients& fit, std::size_t power) {
    return fit.values.size() > power ? fit.values[power] : 0;
}

// Returns the values minus the fit at s.
std::vector<double> misfits(const std::vector<double>& s, const std::vector<double>& values, const Coefficients& fit,
                            double scale) {
    std::vector<double> left;
    for (std::size_t i = 0; i < s.size(); ++i) {
        const double u = s[i] / scale;
        left.push_back(values[i] - of_power(fit, 0) - u * of_power(fit, 1) - u * u * of_power(fit, 2));
    }
    return left;
}

// Sets the weight of outliers to 0: values more than 4 standard deviations away, estimated from the median absolute
// deviation.
void leave_out(const std::vector<double>& left, std::vector<double>& weights) {
    std::vector<double> modulus;
    for (const double one : left) modulus.push_back(std::abs(one));
    const auto middle = modulus.begin() + std::ssize(modulus) / 2;
    std::nth_element(modulus.begin(), middle, modulus.end());
    const double most = 4 * 1.4826 * *middle + 1e-12;
    for (std::size_t i = 0; i < left.size(); ++i) weights[i] = std::abs(left[i]) <= most ? 1 : 0;
}

}  // namespace

Coefficients least_squares(const std::vector<std::vector<double>>& columns, const std::vector<double>& values,
                           const std::vector<double>& weights) {
    const std::size_t n = columns.size();
    std::vector<std::vector<double>> normal(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) normal[i][j] = sum_of(columns[i], columns[j], weights);
    }
    Coefficients found;
    if (!inverted(normal)) return found;
    for (std::size_t i = 0; i < n; ++i) {
        double value = 0;
        for (std::size_t j = 0; j < n; ++j) value += normal[i][j] * sum_of(columns[j], values, weights);
        found.values.push_back(value);
        found.variance_factors.push_back(normal[i][i]);
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
        double left = values[k];
        for (std::size_t i = 0; i < n; ++i) left -= found.values[i] * columns[i][k];
        found.residual += weights[k] * left * left;
    }
    return found;
}

LineFit fitted_line(const std::vector<double>& s, const std::vector<double>& values, double correlated) {
    LineFit line;
    if (s.size() < 3) return line;
    double scale = 0;
    for (const double one : s) scale = std::max(scale, std::abs(one));
    if (scale == 0) return line;
    // Scaling s to [-1, 1] keeps the normal equations well conditioned.
    std::vector<std::vector<double>> columns{powers_of(s, scale, 0), powers_of(s, scale, 1)};
    std::vector<double> weights(s.size(), 1);
    const auto error_of = [&](const Coefficients& fit, std::size_t power) {
        double used = 0;
        for (const double one : weights) used += one;
        const double freedom = std::max(1.0, used - static_cast<double>(fit.values.size()));
        return std::sqrt(fit.residual / freedom * fit.variance_factors.at(power) * correlated);
    };
    if (s.size() >= few_for_bend) columns.push_back(powers_of(s, scale, 2));
    Coefficients fit = least_squares(columns, values, weights);
    if (fit.values.empty()) return line;
    leave_out(misfits(s, values, fit, scale), weights);
    fit = least_squares(columns, values, weights);
    if (columns.size() == 3 && !fit.values.empty() && std::abs(fit.values[2]) < clear_bend * error_of(fit, 2)) {
        columns.pop_back();
        fit = least_squares(columns, values, weights);
    }
    if (fit.values.empty()) return line;
    line.by_power = {of_power(fit, 0), of_power(fit, 1) / scale, of_power(fit, 2) / scale / scale};
    line.slope_error = error_of(fit, 1) / scale;
    line.is_known = true;
    return line;
}

}  // namespace echolux
