// Lengths of the processing steps, and the uniform k grid from wavelengths, positions or a polynomial.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"
#include "compute/plan/cubic_spline.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

using std::numbers::pi;

// Computes k = 2 pi / lambda and inverts it by a spline at uniform k. The end points are exact.
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

// Horner's scheme in u = j / (n - 1).
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

// Returns the grid point of each sample: the inverse of `positions`, which are monotone.
std::vector<double> inverse_positions(const std::vector<double>& positions) {
    std::vector<double> point = counted(std::ssize(positions));
    std::vector<double> position = positions;
    if (position.front() > position.back()) {
        std::reverse(position.begin(), position.end());
        std::reverse(point.begin(), point.end());
    }
    const CubicSpline point_at(position, point);
    const std::size_t last = position.size() - 1;
    const double first_slope = (point[1] - point[0]) / (position[1] - position[0]);
    const double last_slope = (point[last] - point[last - 1]) / (position[last] - position[last - 1]);
    std::vector<double> inverse = counted(std::ssize(positions));
    for (double& p : inverse) {
        if (p < position.front()) {
            p = point.front() + first_slope * (p - position.front());
        } else if (p > position.back()) {
            p = point.back() + last_slope * (p - position.back());
        } else {
            p = point_at(p);
        }
    }
    return inverse;
}

}  // namespace

SpectrumPoints points_of_grid(const KGrid& grid) {
    const std::int64_t n = std::ssize(grid.positions);
    SpectrumPoints points{counted(n), grid.positions};
    for (double& position : points.samples) position = std::clamp(position, 0.0, static_cast<double>(n - 1));
    return points;
}

SpectrumPoints points_of_samples(const Calibration& calibration, const KGrid& grid) {
    const std::int64_t n = std::ssize(grid.positions);
    if (calibration.wavelengths_nm.empty()) return {inverse_positions(grid.positions), counted(n)};
    SpectrumPoints points{{}, counted(n)};
    const double step = (grid.k_max_per_um - grid.k_min_per_um) / static_cast<double>(n - 1);
    for (const double nm : calibration.wavelengths_nm) {
        points.on_grid.push_back((2 * pi * 1000 / nm - grid.k_min_per_um) / step);
    }
    return points;
}

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
    const std::int64_t half = lengths.transform / 2;
    const bool is_full_range = recipe.method == Method::defr;
    lengths.bins = is_full_range ? lengths.transform : half;
    lengths.zero_delay = is_full_range ? half : 0;
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

}  // namespace echolux
