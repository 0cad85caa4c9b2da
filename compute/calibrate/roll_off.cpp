#include "compute/calibrate/roll_off.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "compute/calibrate/calibrate.h"
#include "compute/indexing.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

// Returns the distance from `top` to where the profile falls below `level`, in direction `step`. Negative if it never
// does.
double distance_to(std::span<const double> profile, std::int64_t top, double level, std::int64_t step) {
    for (std::int64_t i = top; i + step >= 0 && i + step < std::ssize(profile); i += step) {
        const double inside = profile[index(i)], outside = profile[index(i + step)];
        if (outside < level) return static_cast<double>(std::abs(i - top)) + (inside - level) / (inside - outside);
    }
    return -1;
}

}  // namespace

DepthPeak strongest_peak(std::span<const double> profile, std::int64_t begin, std::int64_t end) {
    begin = std::clamp<std::int64_t>(begin, 0, std::ssize(profile));
    end = std::clamp<std::int64_t>(end, begin, std::ssize(profile));
    DepthPeak peak{static_cast<double>(begin), 0, 0};
    if (begin == end) return peak;
    const std::int64_t top = std::max_element(profile.begin() + begin, profile.begin() + end) - profile.begin();
    peak.bin = static_cast<double>(top);
    peak.height = profile[index(top)];
    if (peak.height <= 0) return peak;

    const bool has_neighbours = top > 0 && top + 1 < std::ssize(profile);
    if (has_neighbours && profile[index(top - 1)] > 0 && profile[index(top + 1)] > 0) {
        const double left = std::log(profile[index(top - 1)] / peak.height);
        const double right = std::log(profile[index(top + 1)] / peak.height);
        const double bend = left + right;
        const double shift = bend < 0 ? std::clamp((left - right) / (2 * bend), -1.0, 1.0) : 0;
        peak.bin += shift;
        peak.height *= std::exp((right - left) / 2 * shift + bend / 2 * shift * shift);
    }
    const double below = distance_to(profile, top, peak.height / 2, -1);
    const double above = distance_to(profile, top, peak.height / 2, 1);
    if (below >= 0 && above >= 0) peak.fwhm = below + above;
    return peak;
}

namespace {

constexpr double min_peak_db = 13;  // one line of noise exceeds this with a probability of 1e-6

double decibels(double power) {
    return 10 * std::log10(std::max(power, 1e-30));
}

double zeta(double share) {
    return std::numbers::pi / 2 * share;
}

// Loss of samples of full width: sinc^2(zeta) in dB.
double wide_samples_db(double share) {
    const double x = zeta(share);
    return x > 0 ? decibels(std::pow(std::sin(x) / x, 2)) : 0;
}

// For resolution 1. The square of the resolution scales the result.
double finite_resolution_db(double share) {
    return decibels(std::exp(-std::pow(zeta(share), 2) / (2 * std::numbers::ln2)));
}

// Least-squares line through levels over finite_resolution_db. Its slope is the square of the resolution.
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
    require(shares.size() >= 2, "roll-off needs at least two depths", "roll-off", "record a mirror at other depths");
    std::vector<double> sorted(shares.begin(), shares.end());
    std::sort(sorted.begin(), sorted.end());
    const auto same =
        std::adjacent_find(sorted.begin(), sorted.end(), [](double a, double b) { return b - a < min_share_between; });
    require(same == sorted.end(), "two mirrors stand at the same depth", "roll-off",
            "record each at a depth of its own, and name it once");
}

constexpr std::int64_t min_bin = 4;  // lower bins contain the residual of the mean under a Hann window

struct Points {
    std::int64_t begin = 0, end = 0;
};

// Converts a window in bins to points of the profile.
Points points_of(const DepthWindow& window, std::int64_t points) {
    const std::int64_t begin = window.begin > 0 ? window.begin * points_per_bin : first_row_past_zero_delay(points);
    return {std::min(begin, points), window.end > 0 ? std::min(window.end * points_per_bin, points) : points};
}

// Climbs a slope towards zero delay and returns its top.
std::int64_t top_before(std::span<const double> profile, std::int64_t point) {
    while (point > 0 && profile[index(point - 1)] > profile[index(point)]) --point;
    return point;
}

// Descends a slope away from zero delay and returns its foot.
std::int64_t foot_after(std::span<const double> profile, std::int64_t point) {
    while (point + 1 < std::ssize(profile) && profile[index(point + 1)] <= profile[index(point)]) ++point;
    return point;
}

// Returns the strongest peak with its top inside the window. If the max is a slope at the start of the window, it
// belongs to a peak outside. That peak is followed to its top if `follows` is set and the top is clear of zero delay;
// otherwise the slope is excluded.
DepthPeak standing_peak(std::span<const double> profile, Points within, bool follows) {
    if (within.begin >= within.end) return {};
    const auto strongest = std::max_element(profile.begin() + within.begin, profile.begin() + within.end);
    const bool is_flank = strongest == profile.begin() + within.begin && within.begin > 0 &&
                          profile[index(within.begin - 1)] > *strongest;
    if (!is_flank) return strongest_peak(profile, within.begin, within.end);
    const std::int64_t top = top_before(profile, within.begin);
    if (follows && top >= min_bin * points_per_bin) {
        const DepthPeak followed = strongest_peak(profile, top, top + 1);
        if (followed.fwhm > 0) return followed;
    }
    return strongest_peak(profile, foot_after(profile, within.begin), within.end);
}

// Fits all levels but one.
FallOff fitted_without(std::size_t left_out, std::vector<double> shares, std::vector<double> levels_db) {
    shares.erase(shares.begin() + static_cast<std::ptrdiff_t>(left_out));
    levels_db.erase(levels_db.begin() + static_cast<std::ptrdiff_t>(left_out));
    return fitted_fall_off(shares, levels_db);
}

}  // namespace

// Uses the median, which ignores peaks. For the mean of `lines` exponentially distributed powers, the median is smaller
// than the mean by this factor (E. B. Wilson and M. M. Hilferty, PNAS 17, 1931).
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

std::optional<MirrorReading> mirror_reading(std::span<const double> amplitude, std::int64_t lines,
                                            const DepthWindow& window) {
    const std::int64_t points = std::ssize(amplitude);
    const Points where = points_of(window, points);
    const DepthPeak peak = standing_peak(amplitude, where, window.begin == 0);
    std::vector<double> power(amplitude.begin(), amplitude.end());
    for (double& p : power) p *= p;
    const double noise = noise_power(power, static_cast<double>(lines), peak.bin, peak.fwhm);
    constexpr auto fine = static_cast<double>(points_per_bin);
    const double level = decibels(peak.height * peak.height);
    MirrorReading reading{peak.bin / fine, level, level - decibels(noise), peak.fwhm / fine, {}};
    if (peak.height <= 0 || reading.snr_db < min_peak_db) return std::nullopt;
    constexpr double much_higher = 3.16;  // 10 dB
    const DepthPeak nearer = standing_peak(amplitude, {min_bin * points_per_bin, where.begin}, false);
    if (window.begin == 0 && nearer.fwhm > 0 && nearer.height > much_higher * peak.height) {
        reading.nearer_bin = nearer.bin / fine;
    }
    return reading;
}

MirrorReading required_mirror(std::span<const double> amplitude, std::int64_t lines, const std::string& where,
                              const DepthWindow& window) {
    if (const std::optional<MirrorReading> reading = mirror_reading(amplitude, lines, window)) return *reading;
    const char* remedy =
        window.begin == 0 && window.end == 0
            ? "set `depths` if the mirror lies in the first 5 % of the range; record the background without the mirror"
            : "check `depths`; record the background without the mirror";
    throw Error(ErrorCode::bad_file, "shows no peak of a mirror 13 dB above the noise", where, remedy);
}

double FallOff::level_db(double share) const {
    return at_zero_db + (has_wide_samples ? wide_samples_db(share) : 0) +
           resolution * resolution * finite_resolution_db(share);
}

// Bisection: the level decreases monotonically with depth.
std::optional<double> FallOff::share_at_loss(double loss_db) const {
    double low = 0, high = 1;
    if (level_db(high) > at_zero_db - loss_db) return std::nullopt;
    for (int step = 0; step < 50; ++step) {
        const double middle = (low + high) / 2;
        (level_db(middle) > at_zero_db - loss_db ? low : high) = middle;
    }
    return low;
}

// Fits with sinc^2 first. A resolution of 0 means that the roll-off is smaller than sinc^2 alone, so the fit without it
// is used if it is better.
FallOff fitted_fall_off(std::span<const double> shares, std::span<const double> levels_db) {
    check_depths(shares);
    const FallOff with_wide_samples = fitted(shares, levels_db, true);
    if (with_wide_samples.resolution > 0) return with_wide_samples;
    const FallOff without = fitted(shares, levels_db, false);
    return without.rms_db < with_wide_samples.rms_db ? without : with_wide_samples;
}

// Repeatedly removes the level whose omission improves the fit of the others most.
std::vector<Outlier> fall_off_outliers(std::span<const double> shares, std::span<const double> levels_db) {
    constexpr double min_db = 2, min_of_rms = 5;
    constexpr std::size_t min_others = 3;
    std::vector<double> kept_shares(shares.begin(), shares.end()), kept_levels(levels_db.begin(), levels_db.end());
    std::vector<std::size_t> kept(shares.size());
    std::iota(kept.begin(), kept.end(), 0U);
    std::vector<Outlier> outliers;
    while (outliers.size() < shares.size() / 4 && kept.size() > min_others) {
        std::size_t worst = 0;
        FallOff of_others;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const FallOff others = fitted_without(i, kept_shares, kept_levels);
            if (i == 0 || others.rms_db < of_others.rms_db) {
                worst = i;
                of_others = others;
            }
        }
        const double from_fit_db = kept_levels[worst] - of_others.level_db(kept_shares[worst]);
        if (std::abs(from_fit_db) < std::max(min_db, min_of_rms * of_others.rms_db)) break;
        outliers.push_back({kept[worst], from_fit_db});
        const auto at = static_cast<std::ptrdiff_t>(worst);
        kept.erase(kept.begin() + at);
        kept_shares.erase(kept_shares.begin() + at);
        kept_levels.erase(kept_levels.begin() + at);
    }
    return outliers;
}

namespace {

// Returns a plan with independent lines, in air, finely sampled in depth. The mean of a mirror's lines is never
// subtracted, because it is the mirror signal.
ReconstructionSpec for_mirrors(ReconstructionSpec plan, const std::vector<double>& background) {
    if (!background.empty()) plan.calibration.background = background;
    plan.calibration.fast_axis.clear();
    plan.calibration.k_jitter.clear();
    plan.geometry.fast_axis = FastAxis::uniform;
    plan.geometry.refractive_index = 1;
    Recipe& recipe = plan.recipe;
    recipe.method = Method::plain;
    recipe.background = plan.calibration.background.empty() ? Background::none : Background::stored;
    recipe.fixed_pattern = FixedPattern::none;
    recipe.average = Average::none;
    recipe.zero_padding = points_per_bin;
    return plan;
}

// Inverts the sign of all dispersion.
ReconstructionSpec turned(ReconstructionSpec plan) {
    for (double& phase : plan.calibration.dispersion_rad) phase = -phase;
    Recipe& recipe = plan.recipe;
    for (double* coefficient : {&recipe.a2_rad, &recipe.a3_rad, &recipe.gdd_fs2, &recipe.tod_fs3}) {
        *coefficient = -*coefficient;
    }
    return plan;
}

// Returns whether the plan compensates any dispersion.
bool disperses(const ReconstructionSpec& plan) {
    if (!plan.recipe.dispersion) return false;
    const std::vector<double> theta =
        dispersion_phase(plan.recipe, plan.calibration, k_grid(plan.calibration, plan.geometry.samples));
    return std::ranges::any_of(theta, [](double phase) { return phase != 0; });
}

}  // namespace

MirrorAtDepth mirror_at_depth(const ReconstructionSpec& given, const std::vector<double>& background,
                              const std::string& name, const DepthWindow& window,
                              const std::function<MeanProfile(const ReconstructionSpec&)>& profile_of) {
    constexpr double higher_db = 0.1;
    const auto seen_by = [&](const ReconstructionSpec& spec) {
        const MeanProfile profile = profile_of(spec);
        MirrorAtDepth seen;
        seen.amplitude = profile.root_mean_power();
        seen.lines = profile.lines();
        seen.bins = profile.grid().depth / points_per_bin;
        seen.bin_um = profile.grid().spacing_um[0] * points_per_bin;
        seen.reading = required_mirror(seen.amplitude, seen.lines, name, window);
        return seen;
    };
    const ReconstructionSpec spec = for_mirrors(given, background);
    MirrorAtDepth mirror = seen_by(spec);
    if (!disperses(spec)) return mirror;
    MirrorAtDepth opposite = seen_by(turned(spec));
    opposite.is_opposite = true;
    return opposite.reading.level_db > mirror.reading.level_db + higher_db ? opposite : mirror;
}

}  // namespace echolux
