#include "compute/tables.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "compute/cubic_spline.h"

namespace echolux {
namespace {

using std::numbers::pi;

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

std::vector<double> counted(std::int64_t n) {
    std::vector<double> values(index(n));
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

KGrid grid_from_wavelengths(const std::vector<double>& wavelengths_nm) {
    const std::int64_t n = std::ssize(wavelengths_nm);
    std::vector<double> k(wavelengths_nm.size());
    std::transform(wavelengths_nm.begin(), wavelengths_nm.end(), k.begin(),
                   [](double nm) { return 2 * pi * 1000 / nm; });
    std::vector<double> sample = counted(n);
    if (k.front() > k.back()) {
        std::reverse(k.begin(), k.end());
        std::reverse(sample.begin(), sample.end());
    }
    KGrid grid;
    grid.k_min_per_um = k.front();
    grid.k_max_per_um = k.back();
    const CubicSpline sample_at(k, sample);
    const double step = (k.back() - k.front()) / static_cast<double>(n - 1);
    for (std::int64_t j = 0; j < n; ++j) {
        grid.positions.push_back(sample_at(k.front() + step * static_cast<double>(j)));
    }
    grid.positions.front() = sample.front();
    grid.positions.back() = sample.back();
    grid.depth_pitch_um = pi / (step * static_cast<double>(n));
    return grid;
}

std::vector<double> polynomial_positions(const std::vector<double>& coefficients, std::int64_t samples) {
    std::vector<double> positions;
    for (std::int64_t j = 0; j < samples; ++j) {
        const double u = static_cast<double>(j) / static_cast<double>(samples - 1);
        double value = 0;
        for (std::size_t i = coefficients.size(); i-- > 0;) value = value * u + coefficients[i];
        positions.push_back(value);
    }
    return positions;
}

// Weights of the samples i0 - 1 .. i0 + 2 at i0 + t.
std::array<double, 4> lagrange3(double t) {
    return {-t * (t - 1) * (t - 2) / 6, (t + 1) * (t - 1) * (t - 2) / 2, -(t + 1) * t * (t - 2) / 2,
            (t + 1) * t * (t - 1) / 6};
}

std::array<double, 4> catmull_rom(double t) {
    return {((-t + 2) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2, ((-3 * t + 4) * t + 1) * t / 2,
            (t - 1) * t * t / 2};
}

std::array<double, 4> b_spline(double t) {
    return {(1 - t) * (1 - t) * (1 - t) / 6, ((3 * t - 6) * t * t + 4) / 6, (((-3 * t + 3) * t + 3) * t + 1) / 6,
            t * t * t / 6};
}

std::int64_t floor_within(double position, std::int64_t low, std::int64_t high) {
    return std::clamp(static_cast<std::int64_t>(std::floor(position)), low, high);
}

// One row of a table: `first` is the sample that weights[0] belongs to; it may leave the spectrum.
struct Row {
    std::int64_t first;
    std::vector<double> weights;
};

Row two_taps(std::int64_t left, double t) {
    return {left, {1 - t, t}};
}

Row four_taps(std::int64_t i0, const std::array<double, 4>& w) {
    return {i0 - 1, {w.begin(), w.end()}};
}

Row row_of(Resample method, double position, std::int64_t n) {
    const auto offset = [&](std::int64_t i0) { return position - static_cast<double>(i0); };
    const std::int64_t inner = floor_within(position, 0, n - 2);
    switch (method) {
        case Resample::linear: return two_taps(inner, offset(inner));
        case Resample::catmull_rom: return four_taps(inner, catmull_rom(offset(inner)));
        case Resample::lagrange3: {
            const std::int64_t i0 = floor_within(position, 1, n - 3);
            return four_taps(i0, lagrange3(offset(i0)));
        }
        // Coefficients start at sample -1, so sample i0 - 1 is coefficient i0.
        case Resample::spline: return {inner, four_taps(inner, b_spline(offset(inner))).weights};
        default: return {std::llround(position), {1.0}};
    }
}

// Samples beyond the ends repeat the end sample: their weights are added to its.
Row folded(const Row& row, std::int64_t n) {
    const auto taps = static_cast<std::int64_t>(row.weights.size());
    Row inside{std::clamp<std::int64_t>(row.first, 0, n - taps), std::vector<double>(row.weights.size(), 0.0)};
    for (std::int64_t m = 0; m < taps; ++m) {
        const std::int64_t sample = std::clamp<std::int64_t>(row.first + m, 0, n - 1);
        inside.weights[index(sample - inside.first)] += row.weights[index(m)];
    }
    return inside;
}

// Linear between the wavelengths of the neighbouring (up-sampled) samples instead of between their positions.
Row row_linear_in_wavelength(double position, double wavelength, const CubicSpline& wavelength_at,
                             const Lengths& lengths, std::int64_t upsample) {
    const auto recorded = [&](std::int64_t i) {
        return static_cast<double>(i) / static_cast<double>(upsample) - static_cast<double>(lengths.pad_left);
    };
    const std::int64_t left = floor_within(position, 0, lengths.upsampled - 2);
    const double a = wavelength_at(recorded(left));
    const double b = wavelength_at(recorded(left + 1));
    return two_taps(left, (wavelength - a) / (b - a));
}

}  // namespace

Lengths lengths_of(const ScanGeometry& geometry, const Recipe& recipe) {
    Lengths lengths;
    lengths.samples = geometry.samples;
    lengths.padded = geometry.samples;
    if (recipe.upsample_pad) {
        lengths.padded = static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(geometry.samples, 2048))));
    }
    lengths.pad_left = (lengths.padded - lengths.samples) / 2;
    lengths.upsampled = lengths.padded * recipe.upsample;
    lengths.points = geometry.samples;
    lengths.transform = lengths.points * recipe.zero_padding;
    lengths.bins = lengths.transform / 2;
    return lengths;
}

KGrid k_grid(const Calibration& calibration, std::int64_t samples) {
    KGrid grid;
    if (!calibration.wavelengths_nm.empty()) {
        grid = grid_from_wavelengths(calibration.wavelengths_nm);
    } else if (!calibration.k_positions.empty()) {
        grid.positions = calibration.k_positions;
    } else if (!calibration.k_polynomial.empty()) {
        grid.positions = polynomial_positions(calibration.k_polynomial, samples);
    } else {
        grid.positions = counted(samples);
    }
    if (calibration.depth_pitch_um > 0) grid.depth_pitch_um = calibration.depth_pitch_um;
    const bool scale_from_pitch =
        grid.k_max_per_um == 0 && grid.depth_pitch_um > 0 && calibration.centre_wavelength_nm > 0;
    if (scale_from_pitch) {
        const auto points = static_cast<double>(grid.positions.size());
        const double half_span = pi / (points * grid.depth_pitch_um) * (points - 1) / 2;
        const double centre = 2 * pi * 1000 / calibration.centre_wavelength_nm;
        grid.k_min_per_um = centre - half_span;
        grid.k_max_per_um = centre + half_span;
    }
    return grid;
}

ResampleTable resample_table(Resample method, const KGrid& grid, const Calibration& calibration, const Lengths& lengths,
                             std::int64_t upsample) {
    const std::int64_t points = lengths.points;
    const CubicSpline wavelength_at(counted(lengths.samples), method == Resample::linear_wavelength
                                                                  ? calibration.wavelengths_nm
                                                                  : counted(lengths.samples));
    ResampleTable table;
    table.prefilter = method == Resample::spline;
    table.base.resize(index(points));
    for (std::int64_t j = 0; j < points; ++j) {
        const double recorded = method == Resample::none ? static_cast<double>(j)
                                                         : std::clamp(grid.positions[index(j)], 0.0,
                                                                      static_cast<double>(lengths.samples - 1));
        const double position = (recorded + static_cast<double>(lengths.pad_left)) * static_cast<double>(upsample);
        Row row = method == Resample::linear_wavelength
                      ? row_linear_in_wavelength(
                            position,
                            2 * pi * 1000 /
                                (grid.k_min_per_um + (grid.k_max_per_um - grid.k_min_per_um) * static_cast<double>(j) /
                                                         static_cast<double>(points - 1)),
                            wavelength_at, lengths, upsample)
                      : row_of(method, position, lengths.upsampled);
        if (!table.prefilter) row = folded(row, lengths.upsampled);
        if (table.weights.empty()) {
            table.taps = static_cast<std::int64_t>(row.weights.size());
            table.weights.resize(index(points * table.taps));
        }
        table.base[index(j)] = static_cast<std::int32_t>(row.first);
        for (std::int64_t m = 0; m < table.taps; ++m) {
            table.weights[index(j * table.taps + m)] = static_cast<float>(row.weights[index(m)]);
        }
    }
    return table;
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

namespace {

// The source spectrum, background - dark, smoothed and brought to the k grid.
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
    std::vector<double> source;
    for (const double position : grid.positions) {
        source.push_back(source_at(std::clamp(position, 0.0, static_cast<double>(n - 1))));
    }
    return source;
}

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
