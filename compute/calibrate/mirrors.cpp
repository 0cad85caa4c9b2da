#include "compute/calibrate/mirrors.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/fitting.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/plan/choices.h"
#include "compute/plan/cubic.h"
#include "compute/plan/tables.h"

namespace echolux {

// ---- Phase of a mirror's fringe along the recorded samples: the analytic signal of the band around its peak,
// unwrapped (docs/algorithms.md 2.4).

namespace {

inline constexpr const char* no_fringe_remedy =
    "put one mirror into the sample arm, away from zero delay, and acquire the background without it";

// Unwrapped phase of a fringe, and its frequency.
struct FringePhase {
    std::vector<double> phase_rad;  // [samples], ascending
    double bin = 0;                 // cycles over the spectrum, centre of the band
};

using std::numbers::pi;

constexpr std::int64_t first_band_bin = 5;  // bins below contain the residual source spectrum

// Bins [begin, end) around the peak of a fringe.
struct Band {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    // Tapered window over the band: the fourth root of a Hann window, which is flat except near the ends.
    double taper(std::int64_t bin) const {
        const double u = static_cast<double>(bin - begin + 1) / static_cast<double>(end - begin + 1);
        return std::pow(0.5 - 0.5 * std::cos(2 * pi * u), 0.25);
    }
};

// Returns the strongest bin of `spectrum`, excluding bins with residual source spectrum.
std::int64_t strongest_bin(const std::vector<std::complex<float>>& spectrum, const char* name) {
    const std::int64_t half = std::ssize(spectrum) / 2;
    const std::int64_t begin = std::max(first_band_bin, std::ssize(spectrum) / 100);
    std::vector<float> power;
    for (std::int64_t b = begin; b < half; ++b) power.push_back(std::norm(spectrum[index(b)]));
    const auto top = std::max_element(power.begin(), power.end());
    const std::int64_t bin = begin + (top - power.begin());
    const float highest = *top;
    std::nth_element(power.begin(), power.begin() + std::ssize(power) / 2, power.end());
    constexpr float min_above_median = 100;  // 20 dB
    require(highest > min_above_median * power[power.size() / 2], "shows no fringe", name, no_fringe_remedy);
    return bin;
}

// The width grows with the frequency, because the k nonlinearity broadens the peak in proportion to it.
Band band_around(std::int64_t bin, std::int64_t samples) {
    const std::int64_t width = std::max<std::int64_t>(40, bin / 2 + 20);
    return {std::max(first_band_bin, bin - width), std::min(samples / 2, bin + width + 1)};
}

// Returns the phase of `fringe`, the mean spectrum of a mirror without its background, counts [samples], at least 32.
// Throws Error{bad_setting} naming the mirror `name` if no peak exceeds the noise.
FringePhase fringe_phase(std::span<const double> fringe, const char* name) {
    const std::int64_t n = std::ssize(fringe);
    require(n >= 32, "the spectrum is too short", name, "at least 32 samples");
    Fft transform(Fft::Kind::complex_forward, n);
    std::transform(fringe.begin(), fringe.end(), transform.complex_in(),
                   [](double value) { return std::complex<float>(static_cast<float>(value)); });
    transform.execute();
    const std::vector<std::complex<float>> spectrum(transform.complex_out(), transform.complex_out() + n);

    FringePhase found;
    const std::int64_t bin = strongest_bin(spectrum, name);
    found.bin = static_cast<double>(bin);
    const Band band = band_around(bin, n);
    std::fill_n(transform.complex_in(), n, std::complex<float>());
    for (std::int64_t b = band.begin; b < band.end; ++b) {  // conjugate before and after: inverse transform
        transform.complex_in()[b] = std::conj(spectrum[index(b)]) * static_cast<float>(band.taper(b));
    }
    transform.execute();

    double turns = 0, before = 0;
    for (std::int64_t p = 0; p < n; ++p) {
        const double phase = -std::arg(std::complex<double>(transform.complex_out()[p]));
        if (p > 0) turns -= std::round((phase - before) / (2 * pi));
        before = phase;
        found.phase_rad.push_back(phase + 2 * pi * turns);
    }
    return found;
}

using std::numbers::pi;

constexpr double trimmed_share = 0.12;  // at each end, where there is little light
constexpr std::int64_t map_order = 5;
constexpr std::int64_t dispersion_order = 3;

std::vector<double> less(std::vector<double> counts, const std::vector<double>& other) {
    for (std::size_t p = 0; p < counts.size(); ++p) counts[p] -= other[p];
    return counts;
}

// Returns the square root of the light at each sample, and zero at the trimmed ends.
std::vector<double> fit_weights(const std::vector<double>& source, std::int64_t n) {
    std::vector<double> weights(index(n), 0.0);
    const auto trimmed = static_cast<std::int64_t>(trimmed_share * static_cast<double>(n));
    for (std::int64_t p = trimmed; p < n - trimmed; ++p) {
        weights[index(p)] = source.empty() ? 1 : std::sqrt(std::max(source[index(p)], 0.0));
    }
    return weights;
}

// Returns positions from -1 to 1 along the samples.
std::vector<double> across(std::int64_t n) {
    std::vector<double> u = index_range(n);
    for (double& p : u) p = 2 * p / static_cast<double>(n - 1) - 1;
    return u;
}

// Scaled k of each sample, ascending from -1 to 1, and the phase range that it covers.
struct KMap {
    std::vector<double> kappa;
    double span_rad = 0;
    std::vector<double> residual_rad;  // phase minus polynomial [samples]
};

// Fits a polynomial to the phase of the map and normalizes it. Throws Error{bad_setting} if it is not monotone.
KMap k_map(std::vector<double> phase, const std::vector<double>& weights) {
    const std::int64_t n = std::ssize(phase);
    if (phase.back() < phase.front()) std::transform(phase.begin(), phase.end(), phase.begin(), std::negate<>());
    const std::vector<double> u = across(n);
    const PolynomialFit smooth(u, phase, weights, map_order);
    const double first = smooth(-1), last = smooth(1);
    KMap map{{}, last - first, {}};
    for (std::size_t p = 0; p < u.size(); ++p) {
        const double value = smooth(u[p]);
        map.kappa.push_back(2 * (value - first) / (last - first) - 1);
        map.residual_rad.push_back(phase[p] - value);
    }
    const bool rises = std::is_sorted(map.kappa.begin(), map.kappa.end(), std::less_equal<>());
    require(rises && map.span_rad > 2 * pi, "the fringes of the two mirrors give no monotone k map", "k map",
            "record the mirrors at two depths that differ by some tens of bins, on the stated sides of zero delay");
    return map;
}

// Returns the sample position of each point of the uniform k grid.
std::vector<double> inverse(const KMap& map) {
    const std::int64_t n = std::ssize(map.kappa);
    const CubicSpline sample_at(map.kappa, index_range(n));
    std::vector<double> positions;
    for (const double kappa : across(n)) positions.push_back(sample_at(kappa));
    positions.front() = 0;
    positions.back() = static_cast<double>(n - 1);
    return positions;
}

struct Coefficients {
    double a2 = 0;
    double a3 = 0;
};

// The quadratic and cubic terms of the fringe phase over kappa are the dispersion of the sample arm.
Coefficients dispersion_of(const FringePhase& fringe, const KMap& map, const std::vector<double>& weights) {
    const std::vector<double> powers = PolynomialFit(map.kappa, fringe.phase_rad, weights, dispersion_order).powers();
    return {powers[2], powers[3]};
}

std::vector<double> combined(const std::vector<double>& a, const std::vector<double>& b, double sign) {
    std::vector<double> sum(a.size());
    for (std::size_t p = 0; p < a.size(); ++p) sum[p] = b[p] + sign * a[p];
    return sum;
}

std::vector<double> phase_on_grid(const Coefficients& coefficients, std::int64_t n) {
    std::vector<double> theta = across(n);
    for (double& kappa : theta) kappa = (coefficients.a2 + coefficients.a3 * kappa) * kappa * kappa;
    return theta;
}

// The phase span of the k map is 2 * displacement * k span. The pitch of a bin is pi / (k span of all points).
double depth_pitch_um(const KMap& map, double displacement_um) {
    if (displacement_um <= 0) return 0;
    const auto n = static_cast<double>(map.kappa.size());
    const double k_span_per_um = map.span_rad / (2 * displacement_um);
    return pi * (n - 1) / (k_span_per_um * n);
}

// Measures the width of mirror `m` before and after calibration.
void note_point_spreads(MirrorCalibration& found, std::size_t m, const std::vector<double>& fringe, double side,
                        std::int64_t begin) {
    std::vector<double> theta = found.dispersion_rad;
    for (double& phase : theta) phase *= side;
    MirrorCurves& curves = found.curves[m];
    curves.as_recorded = mirror_profile(fringe, {}, {});
    curves.mapped = mirror_profile(fringe, found.k_positions, {});
    curves.sharpened = mirror_profile(fringe, found.k_positions, theta);
    found.fwhm_before[m] = point_spread(curves.as_recorded, begin).fwhm;
    found.fwhm_mapped[m] = point_spread(curves.mapped, begin).fwhm;
    const PointSpread sharp = point_spread(curves.sharpened, begin);
    found.fwhm[m] = sharp.fwhm;
    found.bin[m] = sharp.bin;
}

// Rejects pairs without fringes. A fringe is a peak in the recorded spectrum and stays one, its width under a Hann
// window is at least two bins, and both mirrors are similarly narrow. Residuals of darkness or of the source satisfy
// none of these.
void require_fringes(const MirrorCalibration& found) {
    constexpr double min_bins = 1.95, max_ratio = 1.5;
    for (const std::size_t m : {0U, 1U}) {
        const bool is_peak = found.fwhm_before[m] > 0 && found.fwhm_mapped[m] > 0 && found.fwhm[m] >= min_bins &&
                             found.fwhm[m] <= max_ratio * std::max(found.fwhm[1 - m], min_bins);
        require(is_peak, "shows no fringe of a mirror", m == 0 ? "mirror 1" : "mirror 2", no_fringe_remedy);
    }
}

// Calibrates assuming that k ascends along the samples.
MirrorCalibration with_rising_k(const MirrorPair& pair) {
    const std::array<std::vector<double>, 2> fringes{less(pair.mirrors[0], pair.background),
                                                     less(pair.mirrors[1], pair.background)};
    const std::array<FringePhase, 2> phases{fringe_phase(fringes[0], "mirror 1"), fringe_phase(fringes[1], "mirror 2")};
    const std::vector<double> source = pair.dark.empty() ? pair.dark : less(pair.background, pair.dark);
    const double side = pair.sides == MirrorSides::opposite ? -1 : 1;  // sign of the second mirror's side
    const std::vector<double> weights = fit_weights(source, std::ssize(pair.background));
    const KMap map = k_map(combined(phases[0].phase_rad, phases[1].phase_rad, -side), weights);
    const Coefficients first = dispersion_of(phases[0], map, weights);
    const Coefficients second = dispersion_of(phases[1], map, weights);

    MirrorCalibration found;
    found.k_positions = inverse(map);
    found.a2_of_each_rad = {first.a2, second.a2};
    found.a2_rad = (first.a2 + side * second.a2) / 2;
    found.a3_rad = (first.a3 + side * second.a3) / 2;
    found.dispersion_rad = phase_on_grid({found.a2_rad, found.a3_rad}, std::ssize(found.k_positions));
    found.depth_pitch_um = depth_pitch_um(map, pair.displacement_um);
    found.residual_rad = map.residual_rad;
    found.trimmed_share = trimmed_share;
    for (const std::size_t m : {0U, 1U}) {
        const auto search_begin = static_cast<std::int64_t>(phases[m].bin / 2);
        found.curves[m].phase_rad = phases[m].phase_rad;
        note_point_spreads(found, m, fringes[m], m == 0 ? 1 : side, search_begin);
    }
    require_fringes(found);
    return found;
}

// Converts the result to k descending along the samples. Reversing the grid inverts the sign of the phase.
void turn_k(MirrorCalibration& found) {
    std::reverse(found.k_positions.begin(), found.k_positions.end());
    std::reverse(found.dispersion_rad.begin(), found.dispersion_rad.end());
    for (double& theta : found.dispersion_rad) theta = -theta;
    for (double& a2 : found.a2_of_each_rad) a2 = -a2;
    found.a2_rad = -found.a2_rad;  // the sign of a3 changes twice
}

}  // namespace

std::vector<double> mirror_profile(std::span<const double> fringe, const std::vector<double>& k_positions,
                                   const std::vector<double>& theta_rad) {
    ReconstructionSpec spec;
    spec.format.sample_format = SampleFormat::f32;
    spec.geometry.samples = std::ssize(fringe);
    spec.geometry.a_scans = 1;
    spec.geometry.b_scans = 1;
    spec.calibration.k_positions = k_positions;
    spec.calibration.dispersion_rad = theta_rad;
    spec.recipe.background = Background::none;
    spec.recipe.resample = Resample::spline;
    spec.recipe.zero_padding = points_per_bin;
    spec.recipe.quantity = Quantity::amplitude;
    const std::vector<float> line(fringe.begin(), fringe.end());
    Block block;
    block.data = reinterpret_cast<const std::byte*>(line.data());
    block.bytes = std::ssize(line) * static_cast<std::int64_t>(sizeof(float));
    block.b_scans = 1;
    const ProbedBlock probe = probed(spec, spec.recipe, block);
    const auto* amplitudes = reinterpret_cast<const float*>(probe.voxels.data());
    return {amplitudes, amplitudes + probe.grid.depth};
}

PointSpread point_spread(std::span<const double> profile, std::int64_t begin) {
    constexpr auto points = static_cast<double>(points_per_bin);
    const DepthPeak peak = strongest_peak(profile, begin * points_per_bin, std::ssize(profile));
    return {peak.bin / points, peak.fwhm / points};
}

MirrorCalibration calibrated_by_mirrors(const MirrorPair& pair) {
    const std::size_t n = pair.background.size();
    require(pair.mirrors[0].size() == n && pair.mirrors[1].size() == n && (pair.dark.empty() || pair.dark.size() == n),
            "the spectra of mirrors, background and dark differ in length", "calibration",
            "record all of them with the same settings of the camera");
    MirrorCalibration found = with_rising_k(pair);
    found.centre_wavelength_nm = pair.centre_wavelength_nm;
    if (pair.k_falls) turn_k(found);
    return found;
}

// ---- roll-off -------------------------------------------------------------------------------------------------------

// Returns the distance from `top` to where the profile falls below `level`, in direction `step`. Negative if it never
// does.
static double distance_to(std::span<const double> profile, std::int64_t top, double level, std::int64_t step) {
    for (std::int64_t i = top; i + step >= 0 && i + step < std::ssize(profile); i += step) {
        const double inside = profile[index(i)], outside = profile[index(i + step)];
        if (outside < level) return static_cast<double>(std::abs(i - top)) + (inside - level) / (inside - outside);
    }
    return -1;
}

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
    require(same == sorted.end(), "two mirrors are at the same depth", "roll-off",
            "record each mirror at a different depth, and list it once");
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
            ? "set `depths` if the mirror is in the first 5 % of the range; record the background without the mirror"
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
    constexpr double min_db = 2, min_of_rms = 5;  // distance from the fit; multiple of the rms of the others
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

// Returns a plan with independent lines, in air, finely sampled in depth. The mean of a mirror's lines is never
// subtracted, because it is the mirror signal. Samples are transformed where they lie, because interpolation to uniform
// k attenuates deep mirrors by up to several dB, which is not a property of the instrument.
static ReconstructionSpec for_mirrors(ReconstructionSpec plan, const std::vector<double>& background) {
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
    if (recipe.resample != Resample::none && recipe.resample != Resample::nudft) {
        recipe.resample = Resample::nufft;
        recipe.upsample = 1;
        recipe.upsample_pad = false;
        plan.nufft = {.oversampling = 2, .width = 8};
    }
    return plan;
}

// Inverts the sign of all dispersion.
static ReconstructionSpec turned(ReconstructionSpec plan) {
    for (double& phase : plan.calibration.dispersion_rad) phase = -phase;
    Recipe& recipe = plan.recipe;
    for (double* coefficient : {&recipe.a2_rad, &recipe.a3_rad, &recipe.gdd_fs2, &recipe.tod_fs3}) {
        *coefficient = -*coefficient;
    }
    return plan;
}

// Returns whether the plan compensates any dispersion.
static bool disperses(const ReconstructionSpec& plan) {
    if (!plan.recipe.dispersion) return false;
    const std::vector<double> theta =
        dispersion_phase(plan.recipe, plan.calibration, k_grid(plan.calibration, plan.geometry.samples));
    return std::ranges::any_of(theta, [](double phase) { return phase != 0; });
}

MirrorAtDepth mirror_at_depth(const ReconstructionSpec& given, const std::vector<double>& background,
                              const std::string& name, const DepthWindow& window,
                              const std::function<MeanProfile(const ReconstructionSpec&)>& profile_of) {
    constexpr double higher_db = 0.1;  // a smaller difference does not invert the dispersion
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
