#include "compute/calibrate/roll_off.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/calibrate/depth_peak.h"
#include "compute/calibrate/probe.h"
#include "compute/indexing.h"
#include "compute/plan/require.h"

namespace echolux {
namespace {

constexpr double min_peak_db = 13;  // of one line of noise, one in a million reaches that

double decibels(double power) {
    return 10 * std::log10(std::max(power, 1e-30));
}

double zeta(double share) {
    return std::numbers::pi / 2 * share;
}

double wide_samples_db(double share) {
    const double x = zeta(share);
    return x > 0 ? decibels(std::pow(std::sin(x) / x, 2)) : 0;
}

// Of resolution 1; its square is the factor.
double finite_resolution_db(double share) {
    return decibels(std::exp(-std::pow(zeta(share), 2) / (2 * std::numbers::ln2)));
}

// A straight line through levels over finite_resolution_db: its slope is the square of the resolution.
FallOff fitted(std::span<const double> shares, std::span<const double> levels_db, bool has_wide_samples) {
    const auto n = static_cast<double>(shares.size());
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const double x = finite_resolution_db(shares[i]);
        const double y = levels_db[i] - (has_wide_samples ? wide_samples_db(shares[i]) : 0);
        sx += x / n;
        sy += y / n;
        sxx += x * x / n;
        sxy += x * y / n;
    }
    const double slope = std::max(0.0, (sxy - sx * sy) / (sxx - sx * sx));
    FallOff found{sy - slope * sx, std::sqrt(slope), has_wide_samples, 0};
    for (std::size_t i = 0; i < shares.size(); ++i) {
        found.rms_db += std::pow(levels_db[i] - found.level_db(shares[i]), 2) / n;
    }
    found.rms_db = std::sqrt(found.rms_db);
    return found;
}

void check_depths(std::span<const double> shares) {
    require(shares.size() >= 2, "one depth says nothing of a fall-off", "roll-off", "record a mirror at other depths");
    std::vector<double> sorted(shares.begin(), shares.end());
    std::sort(sorted.begin(), sorted.end());
    const auto same =
        std::adjacent_find(sorted.begin(), sorted.end(), [](double a, double b) { return b - a < min_share_between; });
    require(same == sorted.end(), "two mirrors stand at the same depth", "roll-off",
            "record each at a depth of its own, and name it once");
}

}  // namespace

// The median hears nothing of peaks; over the mean of `lines` exponentially distributed powers it is smaller by this
// factor (E. B. Wilson and M. M. Hilferty, PNAS 17, 1931).
double noise_power(std::span<const double> power, double lines, double peak_point, double peak_width) {
    const std::int64_t begin = first_row_past_zero_delay(std::ssize(power));
    const double guard = std::max(0.05 * static_cast<double>(power.size()), 4 * peak_width);
    std::vector<double> noise;
    for (std::int64_t z = begin; z < std::ssize(power); ++z) {
        if (std::abs(static_cast<double>(z) - peak_point) > guard) noise.push_back(power[index(z)]);
    }
    if (noise.empty()) return 0;
    std::nth_element(noise.begin(), noise.begin() + std::ssize(noise) / 2, noise.end());
    return noise[noise.size() / 2] / std::pow(1 - 1 / (9 * std::max(lines, 1.0)), 3);
}

std::optional<MirrorReading> mirror_reading(std::span<const double> amplitude, std::int64_t lines) {
    const std::int64_t points = std::ssize(amplitude);
    const DepthPeak peak = strongest_peak(amplitude, first_row_past_zero_delay(points), points);
    std::vector<double> power(amplitude.begin(), amplitude.end());
    for (double& p : power) p *= p;
    const double noise = noise_power(power, static_cast<double>(lines), peak.bin, peak.fwhm);
    constexpr auto fine = static_cast<double>(points_per_bin);
    const double level = decibels(peak.height * peak.height);
    const MirrorReading reading{peak.bin / fine, level, level - decibels(noise), peak.fwhm / fine};
    if (peak.height <= 0 || reading.snr_db < min_peak_db) return std::nullopt;
    return reading;
}

MirrorReading required_mirror(std::span<const double> amplitude, std::int64_t lines, const std::string& where) {
    if (const std::optional<MirrorReading> reading = mirror_reading(amplitude, lines)) return *reading;
    throw Error(ErrorCode::bad_file, "shows no peak of a mirror 13 dB above the noise", where,
                "it has to lie beyond the first twentieth of the range; take the background without it");
}

double FallOff::level_db(double share) const {
    return at_zero_db + (has_wide_samples ? wide_samples_db(share) : 0) +
           resolution * resolution * finite_resolution_db(share);
}

std::optional<double> FallOff::share_at_loss(double loss_db) const {
    double low = 0, high = 1;
    if (level_db(high) > at_zero_db - loss_db) return std::nullopt;
    for (int step = 0; step < 50; ++step) {
        const double middle = (low + high) / 2;
        (level_db(middle) > at_zero_db - loss_db ? low : high) = middle;
    }
    return low;
}

FallOff fitted_fall_off(std::span<const double> shares, std::span<const double> levels_db) {
    check_depths(shares);
    const FallOff with_wide_samples = fitted(shares, levels_db, true);
    if (with_wide_samples.resolution > 0) return with_wide_samples;
    const FallOff without = fitted(shares, levels_db, false);
    return without.rms_db < with_wide_samples.rms_db ? without : with_wide_samples;
}

}  // namespace echolux
