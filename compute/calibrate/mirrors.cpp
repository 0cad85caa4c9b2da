#include "compute/calibrate/mirrors.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/fitting.h"
#include "compute/calibrate/roll_off.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/plan/choices.h"
#include "compute/plan/cubic.h"

namespace echolux {

// Phase of a mirror's fringe along the recorded samples: the analytic signal of the band around its peak, unwrapped
// (docs/algorithms.md 2.4).

namespace {

inline constexpr const char* no_fringe_remedy =
    "put one mirror into the sample arm, away from zero delay, and take the background without it";

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
    std::vector<double> u = counted(n);
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
            "record the mirrors at two depths that differ by some tens of bins, on the sides that are stated");
    return map;
}

// Returns the sample position of each point of the uniform k grid.
std::vector<double> inverse(const KMap& map) {
    const std::int64_t n = std::ssize(map.kappa);
    const CubicSpline sample_at(map.kappa, counted(n));
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

}  // namespace echolux
