#include "engine/flow/heart_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "engine/flow/line_fit.h"

namespace echolux {
namespace {

constexpr double least_beats = 2, values_a_beat = 4;
constexpr double max_chance = 0.01;
constexpr double max_rates = 1e5;  // max number of rates to search
constexpr double told_apart = 3;   // independent rates per resolved frequency step, 1 / duration
constexpr std::size_t unknowns = 5, least_values = unknowns + 3;

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
    return 1 - std::pow(1 - once, std::max(1.0, told_apart * range_hz * series.duration()));
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
    if (series.count() < least_values) {
        rate.problem = fmt::format("{} over time {} too few for a heart rate, which needs {}", series.count(),
                                   series.count() == 1 ? "value is" : "values are", least_values);
        return rate;
    }
    if (series.duration() <= 0) {
        rate.problem = "all values are of the same time";
        return rate;
    }
    const double low = std::max(min_hz, least_beats / series.duration());
    const double high = std::min(max_hz, 1 / (values_a_beat * median_step(series.times)));
    if (!(low < high)) {
        rate.problem = fmt::format(
            "{:.3g} s with a value every {:.3g} s hold no two beats of four values each between {:g} and {:g} Hz",
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
    const Coefficients fit = fit_at(series, hz);
    if (!fit.values.empty()) rate.chance = chance_of(series, fit.residual, high - low);
    if (rate.chance > max_chance) {
        rate.problem =
            fmt::format("nothing beats between {:.3g} and {:.3g} Hz: noise fits as well with a chance of {:.2g}", low,
                        high, rate.chance);
        return rate;
    }
    rate.hz = hz;
    rate.error_hz = rate_error(series, fit);
    rate.beat = beat_of(fit, -2 * std::numbers::pi * hz * series.times.front());
    rate.pulsatility = pulsatility_of(rate);
    return rate;
}

}  // namespace echolux
