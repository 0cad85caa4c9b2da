// Window or shaping, times dispersion compensation, as one complex vector on the k grid (docs/algorithms.md 3.8-3.10).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "compute/cubic_spline.h"
#include "compute/indexing.h"
#include "compute/tables.h"

namespace echolux {
namespace {

using std::numbers::pi;

std::vector<double> shaping_weights(const Recipe& recipe, const std::vector<double>& target,
                                    const std::vector<double>& source) {
    const double floor = recipe.shaping_floor * *std::max_element(source.begin(), source.end());
    std::vector<double> g(target.size());
    double shaped_sum = 0, target_sum = 0;
    for (std::size_t j = 0; j < target.size(); ++j) {
        g[j] = target[j] / std::max(source[j], floor);
        shaped_sum += g[j] * source[j];
        target_sum += target[j];
    }
    for (double& value : g) value *= target_sum / shaped_sum;
    return g;
}

}  // namespace

std::vector<double> source_on_grid(const Recipe& recipe, const Calibration& calibration, const KGrid& grid) {
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
    const CubicSpline source_at(counted(n), smooth);
    std::vector<double> source(grid.positions.size());
    std::transform(grid.positions.begin(), grid.positions.end(), source.begin(),
                   [&](double position) { return source_at(std::clamp(position, 0.0, static_cast<double>(n - 1))); });
    return source;
}

std::vector<double> window_weights(const Recipe& recipe, std::int64_t n) {
    const auto cosine_sum = [](std::initializer_list<double> a, double u) {
        double value = 0, sign = 1;
        int order = 0;
        for (const double coefficient : a) {
            value += sign * coefficient * std::cos(2 * pi * order * u);
            sign = -sign;
            ++order;
        }
        return value;
    };
    const auto at = [&](double u) -> double {  // u in 0..1
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
    };
    std::vector<double> weights(index(n));
    for (std::int64_t j = 0; j < n; ++j) weights[index(j)] = at(static_cast<double>(j) / static_cast<double>(n - 1));
    return weights;
}

std::vector<double> shaping_target(const Recipe& recipe, std::int64_t n) {
    std::vector<double> target(index(n));
    for (std::int64_t j = 0; j < n; ++j) {
        const double u = static_cast<double>(j) / static_cast<double>(n - 1);
        const double x = (u - 0.5) / recipe.shaping_fwhm;
        target[index(j)] = recipe.shaping == Shaping::hann ? 0.5 * (1 - std::cos(2 * pi * u))
                                                           : std::exp(-4 * std::numbers::ln2 * x * x);
    }
    return target;
}

std::vector<double> dispersion_phase(const Recipe& recipe, const Calibration& calibration, const KGrid& grid) {
    constexpr double light_um_per_fs = 0.299792458;
    const auto n = static_cast<std::int64_t>(grid.positions.size());
    std::vector<double> theta(index(n), 0.0);
    if (!recipe.dispersion) return theta;
    const double half_span_per_fs = light_um_per_fs * (grid.k_max_per_um - grid.k_min_per_um) / 2;
    const double a2 = recipe.a2_rad + recipe.gdd_fs2 * half_span_per_fs * half_span_per_fs / 2;
    const double a3 = recipe.a3_rad + recipe.tod_fs3 * half_span_per_fs * half_span_per_fs * half_span_per_fs / 6;
    const double sign = calibration.dispersion_holds == PhaseMeaning::theta ? 1 : -1;
    for (std::int64_t j = 0; j < n; ++j) {
        const double kappa = 2 * static_cast<double>(j) / static_cast<double>(n - 1) - 1;
        theta[index(j)] = (a2 + a3 * kappa) * kappa * kappa;
        if (!calibration.dispersion_rad.empty()) theta[index(j)] += sign * calibration.dispersion_rad[index(j)];
    }
    return theta;
}

SpectralWeight spectral_weight(const Recipe& recipe, const Calibration& calibration, const KGrid& grid) {
    const auto n = static_cast<std::int64_t>(grid.positions.size());
    std::vector<double> amplitude =
        recipe.shaping == Shaping::none ? window_weights(recipe, n) : shaping_target(recipe, n);
    SpectralWeight weight;
    weight.sum = std::accumulate(amplitude.begin(), amplitude.end(), 0.0);
    if (recipe.shaping != Shaping::none) {
        amplitude = shaping_weights(recipe, amplitude, source_on_grid(recipe, calibration, grid));
    }
    const std::vector<double> theta = dispersion_phase(recipe, calibration, grid);
    weight.real = std::all_of(theta.begin(), theta.end(), [](double t) { return t == 0; });
    for (std::size_t j = 0; j < amplitude.size(); ++j) {
        weight.values.emplace_back(std::polar(1.0, -theta[j]) * amplitude[j]);
    }
    return weight;
}

}  // namespace echolux
