// Interpolation weights of all methods, one row of taps per point of the k grid (docs/algorithms.md 3.1-3.5).
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "compute/indexing.h"
#include "compute/plan/cubic_spline.h"
#include "compute/plan/lagrange_cubic.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

// Returns the weights of samples i0 - 1 .. i0 + 2 at position i0 + t.
std::array<double, 4> lagrange3(double t) {
    double weights[4];
    LagrangeCubic<double>{}(t, weights);
    return std::to_array(weights);
}

// Catmull-Rom spline: interpolates with continuous first derivative.
std::array<double, 4> catmull_rom(double t) {
    return {((-t + 2) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2, ((-3 * t + 4) * t + 1) * t / 2,
            (t - 1) * t * t / 2};
}

// Cubic B-spline: smooths unless samples are prefiltered.
std::array<double, 4> b_spline(double t) {
    return {(1 - t) * (1 - t) * (1 - t) / 6, ((3 * t - 6) * t * t + 4) / 6, (((-3 * t + 3) * t + 3) * t + 1) / 6,
            t * t * t / 6};
}

std::int64_t floor_within(double position, std::int64_t low, std::int64_t high) {
    return std::clamp(static_cast<std::int64_t>(std::floor(position)), low, high);
}

// One row of a table. `first` is the sample of weights[0] and may be outside the spectrum.
struct Row {
    std::int64_t first;
    std::vector<double> weights;
    double offset = 0;  // distance of the point from sample first + 1
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
            return {i0 - 1, four_taps(i0, lagrange3(offset(i0))).weights, offset(i0)};
        }
        // Coefficients start at sample -1, so sample i0 - 1 has coefficient i0.
        case Resample::spline: return {inner, four_taps(inner, b_spline(offset(inner))).weights};
        default: return {std::llround(position), {1.0}};
    }
}

// Repeats the end samples beyond the spectrum by adding the weights of missing samples to theirs.
Row folded(const Row& row, std::int64_t n) {
    const auto taps = static_cast<std::int64_t>(row.weights.size());
    Row inside{std::clamp<std::int64_t>(row.first, 0, n - taps), std::vector<double>(row.weights.size(), 0.0),
               row.offset};
    for (std::int64_t m = 0; m < taps; ++m) {
        const std::int64_t sample = std::clamp<std::int64_t>(row.first + m, 0, n - 1);
        inside.weights[index(sample - inside.first)] += row.weights[index(m)];
    }
    return inside;
}

// Interpolates linearly in wavelength rather than in position, between neighbouring (up-sampled) samples.
class WavelengthRows {
  public:
    WavelengthRows(const KGrid& grid, const Calibration& calibration, const Lengths& lengths)
        : grid_(grid), lengths_(lengths), wavelength_at_(counted(lengths.samples), calibration.wavelengths_nm) {}

    Row row(std::int64_t j, double position) const {
        const std::int64_t left = floor_within(position, 0, lengths_.upsampled - 2);
        const double a = wavelength_at_(recorded(left));
        const double b = wavelength_at_(recorded(left + 1));
        return two_taps(left, (wavelength_nm(j) - a) / (b - a));
    }

  private:
    double recorded(std::int64_t i) const {
        const double upsample = static_cast<double>(lengths_.upsampled) / static_cast<double>(lengths_.padded);
        return static_cast<double>(i) / upsample - static_cast<double>(lengths_.pad_left);
    }

    double wavelength_nm(std::int64_t j) const {
        const double share = static_cast<double>(j) / static_cast<double>(lengths_.points - 1);
        return 2 * std::numbers::pi * 1000 / std::lerp(grid_.k_min_per_um, grid_.k_max_per_um, share);
    }

    const KGrid& grid_;
    const Lengths& lengths_;
    CubicSpline wavelength_at_;
};

// Returns the position of k grid point j in the padded and up-sampled spectrum.
double position_of(std::int64_t j, Resample method, const KGrid& grid, const Lengths& lengths) {
    const double last = static_cast<double>(lengths.samples - 1);
    const double recorded =
        method == Resample::none ? static_cast<double>(j) : std::clamp(grid.positions[index(j)], 0.0, last);
    const double upsample = static_cast<double>(lengths.upsampled) / static_cast<double>(lengths.padded);
    return (recorded + static_cast<double>(lengths.pad_left)) * upsample;
}

// Spline rows are not folded, because the prefilter extends the coefficients beyond the ends.
std::vector<Row> rows_of(Resample method, const KGrid& grid, const Calibration& calibration, const Lengths& lengths) {
    std::optional<WavelengthRows> wavelength_rows;
    if (method == Resample::linear_wavelength) wavelength_rows.emplace(grid, calibration, lengths);
    std::vector<Row> rows;
    for (std::int64_t j = 0; j < lengths.points; ++j) {
        const double position = position_of(j, method, grid, lengths);
        const Row row =
            wavelength_rows ? wavelength_rows->row(j, position) : row_of(method, position, lengths.upsampled);
        rows.push_back(method == Resample::spline ? row : folded(row, lengths.upsampled));
    }
    return rows;
}

}  // namespace

ResampleTable resample_table(Resample method, const KGrid& grid, const Calibration& calibration,
                             const Lengths& lengths) {
    ResampleTable table;
    table.prefilter = method == Resample::spline;
    for (const Row& row : rows_of(method, grid, calibration, lengths)) {
        table.taps = std::ssize(row.weights);
        table.base.push_back(static_cast<std::int32_t>(row.first));
        for (const double weight : row.weights) table.weights.push_back(static_cast<float>(weight));
        if (method == Resample::lagrange3) table.offset.push_back(static_cast<float>(row.offset));
    }
    return table;
}

}  // namespace echolux
