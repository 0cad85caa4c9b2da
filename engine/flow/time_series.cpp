#include "engine/flow/time_series.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/io/volume_file.h"

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

void leave_out_outliers(const std::vector<double>& left, std::vector<double>& weights) {
    std::vector<double> modulus;
    for (const double one : left) modulus.push_back(std::abs(one));
    const auto middle = modulus.begin() + std::ssize(modulus) / 2;
    std::nth_element(modulus.begin(), middle, modulus.end());
    const double most = 4 * 1.4826 * *middle + 1e-12;  // 4 sigma of normal noise, estimated from the median
    for (std::size_t i = 0; i < left.size(); ++i) weights[i] = std::abs(left[i]) <= most ? 1 : 0;
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
    leave_out_outliers(misfits(s, values, fit, scale), weights);
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

constexpr double of_normal = 1.4826;   // ratio of the standard deviation of normal noise to its median absolute value
constexpr double without_v_max = 1e4;  // mm/s; replaces an unknown v_max, so that nothing wraps around

// Estimates noise from second differences along B-scans, which cancel velocities that change evenly along a vessel.
// `step` is the distance in B-scans, `turn` the period of wrapping in mm/s.
static double noise_of(const std::vector<float>& velocities, const VolumeGrid& grid, std::int64_t step, double turn) {
    const std::int64_t stride = grid.depth * grid.a_scans;
    const std::int64_t planes = grid.b_scans - 2 * step;
    if (planes < 1) return 0;
    // samples suffice for the median
    constexpr std::int64_t enough = 400'000;
    std::int64_t every = std::max<std::int64_t>(1, planes * stride / enough);
    while (std::gcd(every, grid.depth) != 1) ++every;  // otherwise some depths would never be sampled
    std::vector<float> differences;
    for (std::int64_t i = 0; i < planes * stride; i += every) {
        const auto at = [&](std::int64_t k) { return static_cast<double>(velocities[index(i + k * step * stride)]); };
        if (at(0) == 0 || at(1) == 0 || at(2) == 0) continue;
        differences.push_back(static_cast<float>(std::abs(std::remainder(at(0) - 2 * at(1) + at(2), turn))));
    }
    if (differences.empty()) return 0;
    const auto middle = differences.begin() + std::ssize(differences) / 2;
    std::nth_element(differences.begin(), middle, differences.end());
    return of_normal * static_cast<double>(*middle) / std::sqrt(6.0);
}

// Replaces each value by the sum of itself and its two neighbours along one axis.
static void sum_of_three(std::vector<float>& values, const VolumeGrid& grid, int axis) {
    const std::int64_t sizes[] = {grid.depth, grid.a_scans, grid.b_scans};
    const std::int64_t strides[] = {1, grid.depth, grid.depth * grid.a_scans};
    const std::int64_t n = sizes[axis], stride = strides[axis], lines = grid.voxels() / n;
    parallel_for(0, (lines + 1023) / 1024, [&](std::int64_t block) {
        std::vector<float> line(index(n));
        for (std::int64_t l = block * 1024; l < std::min(lines, (block + 1) * 1024); ++l) {
            const std::int64_t first = l / stride * stride * n + l % stride;
            const auto at = [&](std::int64_t i) -> float& { return values[index(first + i * stride)]; };
            for (std::int64_t i = 0; i < n; ++i) line[index(i)] = at(i);
            for (std::int64_t i = 0; i < n; ++i) {
                const auto from = line.begin() + std::max<std::int64_t>(0, i - 1);
                const auto to = line.begin() + std::min(n, i + 2);
                float sum = 0;
                for (auto one = from; one != to; ++one) sum += *one;
                at(i) = sum;
            }
        }
    });
}

// Returns the period of wrapping, 2 v_max, in mm/s.
static double turn_of(const VolumeGrid& grid) {
    return 2 * (v_max_of(grid) > 0 ? v_max_of(grid) : without_v_max);
}

double v_max_of(const VolumeGrid& grid) {
    return grid.v_max;
}

void require_velocities(const VolumeGrid& grid) {
    if (grid.unit != "mm/s") {
        throw Error(ErrorCode::bad_setting,
                    "flow rates need velocities in mm/s, but the volume holds " +
                        (grid.quantity.empty() ? std::string("other values") : grid.quantity),
                    "volume", "use the flow that `reconstruct` writes with flow.method = doppler");
    }
    constexpr const char* remedy = "use a volume of at least eight B-scans";
    if (grid.b_scans < 2) {
        throw Error(ErrorCode::bad_setting,
                    "a single B-scan does not show the vessel axis, so its angle to the beam is unknown", "volume",
                    remedy);
    }
    if (grid.b_scans == 2) {
        throw Error(ErrorCode::bad_setting, "two B-scans are too few to estimate the noise of velocities", "volume",
                    remedy);
    }
    if (grid.spacing_um[0] > 0 && grid.spacing_um[1] > 0 && grid.spacing_um[2] > 0) return;
    throw Error(ErrorCode::bad_setting, "areas need the voxel spacing, which is unknown", "volume",
                "set scan.spacing_a_um, scan.spacing_b_um and calibration.wavelengths");
}

std::vector<float> axial_velocities(const Volume& volume) {
    require_velocities(volume.grid);
    return finite_values(volume);
}

VelocitySum::VelocitySum(const VolumeGrid& grid)
    : grid_(grid), v_max_(turn_of(grid) / 2), real_(index(grid.voxels())), imaginary_(index(grid.voxels())) {}

void VelocitySum::add(const std::vector<float>& velocities) {
    const auto rad = static_cast<float>(std::numbers::pi / v_max_);
    const std::int64_t plane = grid_.depth * grid_.a_scans;
    parallel_for(0, grid_.b_scans, [&](std::int64_t b) {
        for (std::int64_t k = b * plane; k < (b + 1) * plane; ++k) {
            const auto i = index(k);
            if (velocities[i] == 0) continue;
            real_[i] += std::cos(velocities[i] * rad);
            imaginary_[i] += std::sin(velocities[i] * rad);
        }
    });
    single_.push_back(noise_of(velocities, grid_, 1, 2 * v_max_));
}

MeanVelocity VelocitySum::mean() const {
    constexpr float known = 14;  // min number of known voxels of 27
    MeanVelocity mean;
    std::vector<float> real = real_, imaginary = imaginary_, there(real.size());
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = real[i] != 0 || imaginary[i] != 0 ? 1.0F : 0.0F;
    for (int axis = 0; axis < 3; ++axis) {
        for (auto* sum : {&real, &imaginary, &there}) sum_of_three(*sum, grid_, axis);
    }
    mean.mm_s.resize(real.size());
    const auto per_rad = static_cast<float>(v_max_ / std::numbers::pi);
    for (std::size_t i = 0; i < real.size(); ++i) {
        if (there[i] >= known) mean.mm_s[i] = std::atan2(imaginary[i], real[i]) * per_rad;
    }
    const std::int64_t apart = std::clamp<std::int64_t>((grid_.b_scans - 1) / 2, 1, 3);  // beyond the averaging window
    mean.noise_mm_s = noise_of(mean.mm_s, grid_, apart, 2 * v_max_);
    for (const double one : single_) mean.single_mm_s += one / static_cast<double>(single_.size());
    return mean;
}

namespace {

constexpr double min_beats = 2, values_a_beat = 4;
constexpr double max_chance = 0.01;
constexpr double much_better = 0.5;   // of the residual: half a rate with its overtone always fits a little better
constexpr double max_rates = 1e5;     // max number of rates to search
constexpr double min_separation = 3;  // independent rates per resolved frequency step, 1 / duration
constexpr std::size_t unknowns = 5, min_values = unknowns + 3;

// Finite values in the order of time, in seconds.
struct FlowOverTime {
    std::vector<double> times, flow, weights;

    double duration() const { return times.back() - times.front(); }
    std::size_t count() const { return times.size(); }
};

// Returns the five columns of the fit: 1, and sine and cosine of the rate and its overtone.
std::vector<std::vector<double>> waves(const FlowOverTime& series, double hz) {
    std::vector<std::vector<double>> columns(unknowns, std::vector<double>(series.count(), 1));
    for (std::size_t i = 0; i < series.count(); ++i) {
        const double phase = 2 * std::numbers::pi * hz * (series.times[i] - series.times.front());
        columns[1][i] = std::sin(phase);
        columns[2][i] = std::cos(phase);
        columns[3][i] = std::sin(2 * phase);
        columns[4][i] = std::cos(2 * phase);
    }
    return columns;
}

// Fits flow over time by a mean and the waves of one rate.
Coefficients fit_at(const FlowOverTime& series, double hz) {
    return least_squares(waves(series, hz), series.flow, series.weights);
}

// Returns the residual of the fit, or a huge value if the fit is singular.
double residual_at(const FlowOverTime& series, double hz) {
    const Coefficients fit = fit_at(series, hz);
    return fit.values.empty() ? 1e300 : fit.residual;
}

// Searches from `low` to `high` in steps of `step`, then refines around the best rate.
double best_between(const FlowOverTime& series, double low, double high, double step) {
    double best = low, least = residual_at(series, low);
    const auto try_at = [&](double hz) {
        const double residual = residual_at(series, hz);
        if (residual < least) {
            least = residual;
            best = hz;
        }
    };
    const auto steps = static_cast<std::int64_t>((high - low) / step);
    for (std::int64_t k = 0; k <= steps; ++k) try_at(low + static_cast<double>(k) * step);
    for (int round = 0; round < 3; ++round) {
        const double middle = best;
        for (int k = -10; k <= 10; ++k) try_at(std::clamp(middle + k * step / 10, low, high));
        step /= 10;
    }
    return best;
}

// Returns the standard deviation of the rate from that of the noise (D. C. Rife and R. R. Boorstyn, IEEE Trans. Inf.
// Theory 20, 1974).
double rate_error(const FlowOverTime& series, const Coefficients& fit) {
    const auto n = static_cast<double>(series.count());
    const double noise = std::sqrt(fit.residual / std::max(1.0, n - static_cast<double>(unknowns) - 1));
    const double amplitude =
        std::hypot(std::hypot(fit.values[1], fit.values[2]), 2 * std::hypot(fit.values[3], fit.values[4]));
    return std::sqrt(24 / n) * noise / (amplitude * series.duration() * 2 * std::numbers::pi);
}

// Returns the probability that noise fits as well: an F test of the four waves, corrected for the number of independent
// rates in the range.
double chance_of(const FlowOverTime& series, double with, double range_hz) {
    double mean = 0, without = 0;
    for (const double one : series.flow) mean += one / static_cast<double>(series.count());
    for (const double one : series.flow) without += (one - mean) * (one - mean);
    if (without <= 0) return 1;
    const double share = with / without, half = (static_cast<double>(series.count()) - unknowns) / 2;
    const double once = std::min(1.0, std::pow(share, half) * (1 + half * (1 - share)));
    return 1 - std::pow(1 - once, std::max(1.0, min_separation * range_hz * series.duration()));
}

// Returns the finite values sorted by time.
FlowOverTime known_of(const std::vector<double>& times_s, const std::vector<double>& flow) {
    std::vector<std::size_t> known;
    for (std::size_t i = 0; i < flow.size(); ++i) {
        if (std::isfinite(flow[i]) && std::isfinite(times_s[i])) known.push_back(i);
    }
    std::ranges::stable_sort(known, {}, [&](std::size_t i) { return times_s[i]; });
    FlowOverTime series;
    for (const std::size_t i : known) {
        series.times.push_back(times_s[i]);
        series.flow.push_back(flow[i]);
        series.weights.push_back(1);
    }
    return series;
}

// The median is robust against gaps in the series.
double median_step(const std::vector<double>& times) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < times.size(); ++i) steps.push_back(times[i] - times[i - 1]);
    const auto middle = steps.begin() + std::ssize(steps) / 2;
    std::nth_element(steps.begin(), middle, steps.end());
    return *middle;
}

// Returns whether the fit is at half of the true rate. There, the overtone explains the data and the fundamental does
// not.
bool is_overtone(const Coefficients& fit) {
    return !fit.values.empty() &&
           std::hypot(fit.values[1], fit.values[2]) < 0.3 * std::hypot(fit.values[3], fit.values[4]);
}

// Changes the origin of the phase from the first value to time 0; `turn` is the phase in radians between the two.
std::array<double, 5> beat_of(const Coefficients& fit, double turn) {
    std::array<double, 5> beat{fit.values[0]};
    for (const std::size_t k : {1U, 3U}) {
        const double by = k == 1 ? turn : 2 * turn;
        beat.at(k) = fit.values[k] * std::cos(by) - fit.values[k + 1] * std::sin(by);
        beat.at(k + 1) = fit.values[k] * std::sin(by) + fit.values[k + 1] * std::cos(by);
    }
    return beat;
}

// Samples the fitted beat to find its extremes.
double pulsatility_of(const HeartRate& rate) {
    if (rate.beat[0] == 0) return 0;
    constexpr int steps = 64;
    double min = rate.at(0), max = min;
    for (int k = 1; k < steps; ++k) {
        const double value = rate.at(k / (steps * rate.hz));
        min = std::min(min, value);
        max = std::max(max, value);
    }
    return (max - min) / std::abs(rate.beat[0]);
}

}  // namespace

double HeartRate::at(double time_s) const {
    const double phase = 2 * std::numbers::pi * hz * time_s;
    return beat[0] + beat[1] * std::sin(phase) + beat[2] * std::cos(phase) + beat[3] * std::sin(2 * phase) +
           beat[4] * std::cos(2 * phase);
}

HeartRate heart_rate_of(const std::vector<double>& times_s, const std::vector<double>& flow, double min_hz,
                        double max_hz) {
    HeartRate rate;
    const FlowOverTime series = known_of(times_s, flow);
    if (series.count() < min_values) {
        rate.problem = fmt::format("{} over time {} too few for a heart rate, which needs {}", series.count(),
                                   series.count() == 1 ? "value is" : "values are", min_values);
        return rate;
    }
    if (series.duration() <= 0) {
        rate.problem = "all values have the same time";
        return rate;
    }
    const double low = std::max(min_hz, min_beats / series.duration());
    const double high = std::min(max_hz, 1 / (values_a_beat * median_step(series.times)));
    if (!(low < high)) {
        rate.problem = fmt::format(
            "{:.3g} s with a value every {:.3g} s cannot contain two beats of four values each between {:g} and {:g} "
            "Hz",
            series.duration(), median_step(series.times), min_hz, max_hz);
        return rate;
    }
    const double step = 1 / (10 * series.duration());
    if (high - low > max_rates * step) {
        rate.problem = fmt::format("{:.3g} s are too long to search every rate between {:.3g} and {:.3g} Hz",
                                   series.duration(), low, high);
        return rate;
    }
    double hz = best_between(series, low, high, step);
    if (2 * hz <= max_hz && is_overtone(fit_at(series, hz)))
        hz = best_between(series, std::max(low, 2 * hz - step), std::min(max_hz, 2 * hz + step), step / 5);
    // With few beats a slower rate may fit better than any of those that are searched.
    const double slowest = std::max(min_hz, min_beats / (4 * series.duration()));
    if (slowest < low) {
        const double slow = best_between(series, slowest, low, step);
        if (residual_at(series, slow) < much_better * residual_at(series, hz)) {
            rate.problem =
                fmt::format("{:.3g} s are too short: {:.2g} Hz fits best, but has fewer than two beats in this time",
                            series.duration(), slow);
            return rate;
        }
    }
    const Coefficients fit = fit_at(series, hz);
    if (!fit.values.empty()) rate.chance = chance_of(series, fit.residual, high - low);
    if (rate.chance > max_chance) {
        rate.problem = fmt::format(
            "no heartbeat found between {:.3g} and {:.3g} Hz: noise would fit as well with a probability of {:.2g}",
            low, high, rate.chance);
        return rate;
    }
    rate.hz = hz;
    rate.error_hz = rate_error(series, fit);
    rate.beat = beat_of(fit, -2 * std::numbers::pi * hz * series.times.front());
    rate.pulsatility = pulsatility_of(rate);
    return rate;
}

}  // namespace echolux
