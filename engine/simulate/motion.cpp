#include "engine/simulate/motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/error.h"
#include "engine/io/number_file.h"
#include "engine/scan/scan_pattern.h"
#include "engine/simulate/counter_random.h"

namespace echolux {
namespace {

using std::numbers::pi;

// Proportions of the motion's parts. With amplitudes of 30 um in depth and 15 um laterally: drift 12 and 6 um rms,
// heart 9 and 1.5 um, tremor 0.2 and 0.3 um rms, saccades 30 um.
constexpr double drift_rms = 0.4, heart_axial = 0.3, heart_lateral = 0.1;
constexpr double tremor_axial = 0.2 / 30, tremor_lateral = 0.3 / 15, saccade_mean = 2;

constexpr double drift_time_s = 0.5, drift_low_pass_hz = 5;
constexpr double tremor_from_hz = 40, tremor_to_hz = 100;
constexpr double saccade_rise_s = 0.022;    // from 10 to 90 %
constexpr double saccade_speed_um_s = 300;  // a line above this speed counts as in a saccade
constexpr std::int64_t drift_waves = 48, tremor_waves = 32;

enum Part : std::uint64_t { of_drift = 1, of_tremor, of_saccades };

// Returns frequencies that divide the power of the drift's spectrum into equal parts: 1 / (1 + (f / f0)^2), filtered by
// a second-order Butterworth low-pass.
std::vector<double> drift_frequencies() {
    constexpr double step_hz = 1e-4, end_hz = 50;
    const double corner_hz = 1 / (2 * pi * drift_time_s);
    const auto power = [corner_hz](double f) {
        return 1 / (1 + std::pow(f / corner_hz, 2)) / (1 + std::pow(f / drift_low_pass_hz, 4));
    };
    double all = 0;
    for (double f = step_hz / 2; f < end_hz; f += step_hz) all += power(f);
    std::vector<double> frequencies;
    double sum = 0;
    for (double f = step_hz / 2; f < end_hz; f += step_hz) {
        sum += power(f);
        const double wanted = (static_cast<double>(frequencies.size()) + 0.5) / static_cast<double>(drift_waves);
        if (sum >= wanted * all) frequencies.push_back(f);
        if (std::ssize(frequencies) == drift_waves) break;
    }
    return frequencies;
}

// Returns a random frequency in each of equal parts of the band. Evenly spaced ones would make the sum periodic.
std::vector<double> tremor_frequencies(std::uint64_t seed) {
    std::vector<double> frequencies;
    for (std::int64_t i = 0; i < tremor_waves; ++i) {
        const double part = static_cast<double>(i) + fraction(hashed(seed, static_cast<std::uint64_t>(i)));
        frequencies.push_back(tremor_from_hz +
                              (tremor_to_hz - tremor_from_hz) * part / static_cast<double>(tremor_waves));
    }
    return frequencies;
}

// Position of a saccade relative to its centre in time, from 0 to 1.
double logistic(double time_s) {
    const double scale_s = saccade_rise_s / (2 * std::log(9.0));
    return 1 / (1 + std::exp(-time_s / scale_s));
}

// Returns a Poisson-distributed number for a uniform `chance`, by inversion.
std::int64_t poisson(double mean, double chance) {
    std::int64_t count = 0;
    double part = std::exp(-mean), sum = part;
    while (chance > sum && count < 1000) {
        ++count;
        part *= mean / static_cast<double>(count);
        sum += part;
    }
    return count;
}

Displacement operator+(const Displacement& a, const Displacement& b) {
    return {a.x_um + b.x_um, a.y_um + b.y_um, a.z_um + b.z_um};
}

// Reads the motion file, [row][t_s, x_um, y_um, z_um]. Throws if time does not increase.
std::vector<double> motion_of(const std::string& file) {
    constexpr const char* key = "simulation.motion_file";
    std::vector<double> rows = read_calibration(file, 0, key, 4);
    for (std::size_t row = 4; row < rows.size(); row += 4) {
        if (rows[row] > rows[row - 4]) continue;
        throw Error(ErrorCode::bad_file, "time does not increase from row " + std::to_string(row / 4) + " to the next",
                    file + " (" + key + ")", "sort the rows by time");
    }
    return rows;
}

}  // namespace

Motion::Motion(const Simulation& s, double duration_s) : duration_s_(duration_s) {
    const auto seed = static_cast<std::uint64_t>(s.motion_seed);
    const double lateral = s.motion_lateral_um, axial = s.motion_axial_um;
    if (!s.motion_file.empty()) file_ = motion_of(s.motion_file);
    moves_ = lateral > 0 || axial > 0 || !file_.empty();
    if (lateral <= 0 && axial <= 0) return;
    add_waves(drift_, drift_frequencies(), {drift_rms * lateral, drift_rms * lateral, drift_rms * axial},
              hashed(seed, of_drift));
    add_waves(tremor_, tremor_frequencies(hashed(seed, of_tremor)),
              {tremor_lateral * lateral, tremor_lateral * lateral, tremor_axial * axial}, hashed(seed, of_tremor));
    heart_omega_ = 2 * pi * s.heart_rate_hz;
    heart_um_ = {heart_lateral * lateral, heart_lateral * lateral, heart_axial * axial};
    add_saccades(s);
}

void Motion::add_waves(std::vector<Wave>& waves, const std::vector<double>& frequencies_hz, const OfAxes& rms_um,
                       std::uint64_t seed) const {
    const double of_one = std::sqrt(2 / static_cast<double>(frequencies_hz.size()));
    for (std::size_t i = 0; i < frequencies_hz.size(); ++i) {
        Wave wave{2 * pi * frequencies_hz[i], {}, {}};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double phase = 2 * pi * fraction(hashed(seed, axis + 1, i));
            wave.cosine[axis] = of_one * rms_um[axis] * std::cos(phase);
            wave.sine[axis] = of_one * rms_um[axis] * std::sin(phase);
        }
        waves.push_back(wave);
    }
}

// Every other saccade returns the eye to where the previous one began.
void Motion::add_saccades(const Simulation& s) {
    const double mean_um = saccade_mean * s.motion_lateral_um;
    if (mean_um <= 0 || s.motion_saccade_rate_hz <= 0) return;
    const std::uint64_t seed = hashed(static_cast<std::uint64_t>(s.motion_seed), of_saccades);
    const auto seconds = static_cast<std::uint64_t>(std::ceil(duration_s_ + 1));
    std::vector<double> times;
    for (std::uint64_t second = 0; second < seconds; ++second) {
        const std::uint64_t name = hashed(seed, second);
        const std::int64_t count = poisson(s.motion_saccade_rate_hz, fraction(hashed(name)));
        for (std::int64_t i = 0; i < count; ++i) {
            times.push_back(static_cast<double>(second) + fraction(hashed(name, static_cast<std::uint64_t>(i + 1))));
        }
    }
    std::ranges::sort(times);
    double x_um = 0, y_um = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        Saccade saccade{times[i], -x_um, -y_um, x_um, y_um};
        if (i % 2 == 0) {
            const std::uint64_t bits = hashed(seed, 0, i);
            const double length_um = -mean_um * std::log(1 - fraction(hashed(bits)));
            const double angle = 2 * pi * fraction(hashed(bits, 1));
            saccade.x_um = length_um * std::cos(angle);
            saccade.y_um = length_um * std::sin(angle);
        }
        x_um += saccade.x_um;
        y_um += saccade.y_um;
        saccades_.push_back(saccade);
    }
}

Displacement Motion::sum_of(const std::vector<Wave>& waves, double time_s) {
    OfAxes sum{};
    for (const Wave& wave : waves) {
        const double cosine = std::cos(wave.omega * time_s), sine = std::sin(wave.omega * time_s);
        for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += wave.cosine[axis] * cosine + wave.sine[axis] * sine;
    }
    return {sum[0], sum[1], sum[2]};
}

Displacement Motion::drift(double time_s) const {
    return sum_of(drift_, time_s);
}

Displacement Motion::tremor(double time_s) const {
    return sum_of(tremor_, time_s);
}

Displacement Motion::heart(double time_s) const {
    const double beat = std::sin(heart_omega_ * time_s) + 0.4 * std::sin(2 * heart_omega_ * time_s + 1);
    return {heart_um_[0] * beat, heart_um_[1] * beat, heart_um_[2] * beat};
}

Displacement Motion::saccades(double time_s) const {
    constexpr double over_s = 0.2;  // 40 time constants, after which the logistic function is constant to rounding
    const auto later =
        std::ranges::lower_bound(saccades_, time_s - over_s, {}, [](const Saccade& saccade) { return saccade.time_s; });
    Displacement sum;
    if (later == saccades_.end()) {
        if (!saccades_.empty()) {
            const Saccade& last = saccades_.back();
            sum = {last.x_before + last.x_um, last.y_before + last.y_um, 0};
        }
        return sum;
    }
    sum = {later->x_before, later->y_before, 0};
    for (auto one = later; one != saccades_.end() && one->time_s < time_s + over_s; ++one) {
        const double part = logistic(time_s - one->time_s);
        sum.x_um += part * one->x_um;
        sum.y_um += part * one->y_um;
    }
    return sum;
}

Displacement Motion::from_file(double time_s) const {
    if (file_.empty()) return {};
    const std::size_t rows = file_.size() / 4;
    std::size_t low = 0, high = rows - 1;
    const auto row = [this](std::size_t i) {
        return Displacement{file_[4 * i + 1], file_[4 * i + 2], file_[4 * i + 3]};
    };
    if (time_s <= file_[0]) return row(0);
    if (time_s >= file_[4 * high]) return row(high);
    while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        (file_[4 * middle] <= time_s ? low : high) = middle;
    }
    const double part = (time_s - file_[4 * low]) / (file_[4 * high] - file_[4 * low]);
    const Displacement a = row(low), b = row(high);
    return {a.x_um + part * (b.x_um - a.x_um), a.y_um + part * (b.y_um - a.y_um), a.z_um + part * (b.z_um - a.z_um)};
}

Displacement Motion::at(double time_s) const {
    return drift(time_s) + heart(time_s) + tremor(time_s) + saccades(time_s) + from_file(time_s);
}

bool Motion::is_saccade(double time_s) const {
    constexpr double half_s = 0.25e-3;
    const auto without_tremor = [this](double t) { return drift(t) + heart(t) + saccades(t) + from_file(t); };
    const Displacement before = without_tremor(time_s - half_s), after = without_tremor(time_s + half_s);
    return std::hypot(after.x_um - before.x_um, after.y_um - before.y_um) > saccade_speed_um_s * 2 * half_s;
}

Motion::Excursion Motion::excursion() const {
    constexpr double step_s = 0.005, max_steps = 200'000;
    const double step = std::max(step_s, duration_s_ / max_steps);
    Excursion found{at(0), at(0)};
    for (double time_s = 0; time_s <= duration_s_ + step; time_s += step) {
        const Displacement now = at(time_s);
        for (double Displacement::*axis : {&Displacement::x_um, &Displacement::y_um, &Displacement::z_um}) {
            found.least.*axis = std::min(found.least.*axis, now.*axis);
            found.greatest.*axis = std::max(found.greatest.*axis, now.*axis);
        }
    }
    return found;
}

double duration_s(const Simulation& s) {
    const ScanPattern pattern(s, field_size(s));
    return static_cast<double>(pattern.lines()) * static_cast<double>(s.volumes) / s.line_rate_hz;
}

}  // namespace echolux
