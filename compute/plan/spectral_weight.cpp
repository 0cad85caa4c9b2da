// Combines the window or shaping with dispersion compensation into one complex vector on the k grid (docs/algorithms.md
// 3.8-3.10).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "compute/indexing.h"
#include "compute/plan/cubic_spline.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

using std::numbers::pi;

// Sum of (-1)^i a_i cos(2 pi i u): the generalized cosine windows.
double cosine_sum(std::initializer_list<double> a, double u) {
    double value = 0, sign = 1;
    int order = 0;
    for (const double coefficient : a) {
        value += sign * coefficient * std::cos(2 * pi * order * u);
        sign = -sign;
        ++order;
    }
    return value;
}

// Returns the window at u in 0..1 along the spectrum: symmetric with peak 1.
double window_at(const Recipe& recipe, double u) {
    switch (recipe.window) {
        case Window::rect: return 1;
        case Window::hann: return cosine_sum({0.5, 0.5}, u);
        case Window::hamming: return cosine_sum({0.54, 0.46}, u);
        case Window::blackman: return cosine_sum({0.42, 0.5, 0.08}, u);
        case Window::blackman_harris: return cosine_sum({0.35875, 0.48829, 0.14128, 0.01168}, u);
        case Window::tukey: {
            const double edge = std::min(u, 1 - u);
            const bool tapered = edge < recipe.tukey_alpha / 2;
            return tapered ? 0.5 * (1 - std::cos(2 * pi * edge / recipe.tukey_alpha)) : 1;
        }
        case Window::gaussian: {
            const double x = (u - 0.5) / recipe.gaussian_sigma;
            return std::exp(-x * x / 2);
        }
    }
    return 1;
}

// Returns the target of spectral shaping at u in 0..1, with peak 1.
double target_at(const Recipe& recipe, double u) {
    if (recipe.shaping == Shaping::hann) return 0.5 * (1 - std::cos(2 * pi * u));
    const double x = (u - 0.5) / recipe.shaping_fwhm;
    return std::exp(-4 * std::numbers::ln2 * x * x);
}

// Returns the final envelope of the spectrum: the window, or the target of shaping.
double envelope_at(const Recipe& recipe, double u) {
    return recipe.shaping == Shaping::none ? window_at(recipe, u) : target_at(recipe, u);
}

// Maps grid points to 0..1. Fractions of a point beyond the ends are clamped.
double share_of(double point, std::int64_t n) {
    return std::clamp(point / static_cast<double>(n - 1), 0.0, 1.0);
}

// Returns the source spectrum, background - dark, smoothed, at recorded sample positions 0..n-1.
std::vector<double> source_at(const std::vector<double>& samples, const Recipe& recipe,
                              const Calibration& calibration) {
    const auto n = static_cast<std::int64_t>(calibration.background.size());
    std::vector<double> light = calibration.background;
    for (std::size_t p = 0; p < calibration.dark.size(); ++p) light[p] -= calibration.dark[p];
    std::vector<double> smooth(light.size());
    for (std::int64_t p = 0; p < n; ++p) {
        const std::int64_t first = std::max<std::int64_t>(0, p - recipe.shaping_smooth / 2);
        const std::int64_t last = std::min(n, p + recipe.shaping_smooth / 2 + 1);
        smooth[index(p)] =
            std::accumulate(light.begin() + first, light.begin() + last, 0.0) / static_cast<double>(last - first);
    }
    const CubicSpline light_at(counted(n), smooth);
    std::vector<double> source(samples.size());
    std::transform(samples.begin(), samples.end(), source.begin(), light_at);
    return source;
}

// Returns g = target / max(source, floor), scaled so that g * source and the target have the same sum on the grid.
std::vector<double> shaping_weights(const SpectrumPoints& points, const Recipe& recipe, const Calibration& calibration,
                                    const KGrid& grid) {
    const std::int64_t n = std::ssize(grid.positions);
    const std::vector<double> grid_source = source_at(points_of_grid(grid).samples, recipe, calibration);
    const double floor = recipe.shaping_floor * *std::max_element(grid_source.begin(), grid_source.end());
    const auto gain = [&](double point, double source) {
        return target_at(recipe, share_of(point, n)) / std::max(source, floor);
    };
    double shaped_sum = 0, target_sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        const auto point = static_cast<double>(j);
        shaped_sum += gain(point, grid_source[index(j)]) * grid_source[index(j)];
        target_sum += target_at(recipe, share_of(point, n));
    }
    const std::vector<double> source = source_at(points.samples, recipe, calibration);
    std::vector<double> g(source.size());
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = gain(points.on_grid[i], source[i]) * (target_sum / shaped_sum);
    return g;
}

std::vector<double> amplitude_at(const SpectrumPoints& points, const Recipe& recipe, const Calibration& calibration,
                                 const KGrid& grid) {
    if (recipe.shaping != Shaping::none) return shaping_weights(points, recipe, calibration, grid);
    std::vector<double> amplitude(points.on_grid.size());
    std::transform(points.on_grid.begin(), points.on_grid.end(), amplitude.begin(),
                   [&](double point) { return window_at(recipe, share_of(point, std::ssize(grid.positions))); });
    return amplitude;
}

// Returns theta = (a2 + a3 kappa) kappa^2 plus the measured phase, with kappa in -1..1 along the grid.
std::vector<double> phase_at(const std::vector<double>& on_grid, const Recipe& recipe, const Calibration& calibration,
                             const KGrid& grid) {
    constexpr double light_um_per_fs = 0.299792458;
    std::vector<double> theta(on_grid.size(), 0.0);
    if (!recipe.dispersion) return theta;
    const auto last = static_cast<double>(grid.positions.size() - 1);
    const double half_span_per_fs = light_um_per_fs * (grid.k_max_per_um - grid.k_min_per_um) / 2;
    const double a2 = recipe.a2_rad + recipe.gdd_fs2 * half_span_per_fs * half_span_per_fs / 2;
    const double a3 = recipe.a3_rad + recipe.tod_fs3 * half_span_per_fs * half_span_per_fs * half_span_per_fs / 6;
    const double sign = calibration.dispersion_holds == PhaseMeaning::theta ? 1 : -1;
    std::optional<CubicSpline> measured;
    if (!calibration.dispersion_rad.empty()) {
        measured.emplace(counted(std::ssize(grid.positions)), calibration.dispersion_rad);
    }
    for (std::size_t i = 0; i < theta.size(); ++i) {
        const double kappa = 2 * on_grid[i] / last - 1;
        theta[i] = (a2 + a3 * kappa) * kappa * kappa;
        if (measured) theta[i] += sign * (*measured)(std::clamp(on_grid[i], 0.0, last));
    }
    return theta;
}

}  // namespace

std::vector<double> source_on_grid(const Recipe& recipe, const Calibration& calibration, const KGrid& grid) {
    return source_at(points_of_grid(grid).samples, recipe, calibration);
}

std::vector<double> dispersion_phase(const Recipe& recipe, const Calibration& calibration, const KGrid& grid) {
    return phase_at(points_of_grid(grid).on_grid, recipe, calibration, grid);
}

std::vector<double> dispersion_phase_at(const SpectrumPoints& points, const Recipe& recipe,
                                        const Calibration& calibration, const KGrid& grid) {
    return phase_at(points.on_grid, recipe, calibration, grid);
}

std::vector<std::complex<double>> spectral_weight_at(const SpectrumPoints& points, const Recipe& recipe,
                                                     const Calibration& calibration, const KGrid& grid) {
    const std::vector<double> amplitude = amplitude_at(points, recipe, calibration, grid);
    const std::vector<double> theta = phase_at(points.on_grid, recipe, calibration, grid);
    std::vector<std::complex<double>> weight(amplitude.size());
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = std::polar(1.0, -theta[i]) * amplitude[i];
    return weight;
}

SpectralWeight spectral_weight(const Recipe& recipe, const Calibration& calibration, const KGrid& grid) {
    const std::int64_t n = std::ssize(grid.positions);
    SpectralWeight weight;
    weight.sum = 0;
    for (std::int64_t j = 0; j < n; ++j) weight.sum += envelope_at(recipe, share_of(static_cast<double>(j), n));
    const std::vector<double> theta = dispersion_phase(recipe, calibration, grid);
    weight.real = std::all_of(theta.begin(), theta.end(), [](double t) { return t == 0; });
    for (const std::complex<double>& value : spectral_weight_at(points_of_grid(grid), recipe, calibration, grid)) {
        weight.values.emplace_back(value);
    }
    return weight;
}

}  // namespace echolux
