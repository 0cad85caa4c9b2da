// Calibrations by mirrors: the k map and dispersion of an instrument, and its roll-off over depth.
//
// Calibrates the k map, the dispersion and, if lengths are known, the absolute scale of an instrument from the fringes
// of one mirror at two depths. Their common phase apart from k (the dispersion of the sample arm) cancels in their
// difference, or in their sum if the mirror was on opposite sides of zero delay (docs/algorithms.md 2.4).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/plan/params.h"

namespace echolux {

// Sides of zero delay. Two mirrors cannot determine them: either assumption yields a map and a dispersion that sharpen
// both mirrors, but the wrong one blurs other depths. The user must state the sides (docs/algorithms.md 2.4).
enum class MirrorSides { same, opposite };

// Mean spectra in counts [samples].
struct MirrorPair {
    std::array<std::vector<double>, 2> mirrors;  // the first one on the side of future samples
    std::vector<double> background;              // recorded without the mirror
    std::vector<double> dark;                    // recorded without light; if empty, all samples get equal weight
    MirrorSides sides = MirrorSides::same;
    bool k_falls = false;             // k descends along the samples, which mirrors alone cannot determine
    double displacement_um = 0;       // between the two positions, in air; 0: unknown
    double centre_wavelength_nm = 0;  // 0 if unknown
};

// Curves of one mirror for plots.
struct MirrorCurves {
    std::vector<double> phase_rad;                       // phase of its fringe [samples], ascending
    std::vector<double> as_recorded, mapped, sharpened;  // |A| over depth in counts, see mirror_profile()
};

// Result of a calibration: the calibration data, and the widths that show its quality.
struct MirrorCalibration {
    std::vector<double> k_positions;     // like Calibration::k_positions [samples]
    std::vector<double> dispersion_rad;  // theta on the k grid [samples], for the first mirror's side
    double a2_rad = 0;                   // the same phase as coefficients
    double a3_rad = 0;
    std::array<double, 2> a2_of_each_rad{};  // measured per mirror; opposite signs on opposite sides
    std::array<double, 2> bin{};             // depth of each mirror with the new map
    std::array<double, 2> fwhm_before{};     // bins, of |A| under a Hann window, without map and dispersion
    std::array<double, 2> fwhm_mapped{};     // with the map only
    std::array<double, 2> fwhm{};            // with both
    double depth_pitch_um = 0;               // like Calibration::depth_pitch_um; 0 without a displacement
    double centre_wavelength_nm = 0;
    std::array<MirrorCurves, 2> curves;
    std::vector<double> residual_rad;  // deviation of the k phase from its polynomial fit [samples]
    double trimmed_share = 0;          // share of the samples ignored at each end
};

// Calibrates an instrument. Throws Error{bad_setting} if a mirror shows no fringe, lengths differ, or the map is not
// strictly monotone.
MirrorCalibration calibrated_by_mirrors(const MirrorPair& pair);

// Returns |A| over depth of `fringe` (counts, no background) under a Hann window, in counts, `points_per_bin` points
// per bin. Empty `k_positions` leave the samples unchanged. Empty `theta_rad` means no dispersion.
std::vector<double> mirror_profile(std::span<const double> fringe, const std::vector<double>& k_positions,
                                   const std::vector<double>& theta_rad);

// Position and FWHM of the profile's peak from bin `begin` on, in bins.
struct PointSpread {
    double bin = 0;
    double fwhm = 0;
};
PointSpread point_spread(std::span<const double> profile, std::int64_t begin);

// ---- roll-off -------------------------------------------------------------------------------------------------------
// Signal of a mirror as a function of depth: a reading of each mirror recording, and the roll-off of the spectrometer
// through all of them. The sample width causes a sinc^2 loss, the finite spectral resolution a Gaussian one
// (docs/algorithms.md 0.1; R. Leitgeb et al., Opt. Express 11(8), 2003).

// Returns the mean noise power of a power profile over depth, the mean of `lines` A-scans. The peak at `peak_point` is
// excluded. Points may be finer than bins. Returns 0 if no points remain.
double noise_power(std::span<const double> power, double lines, double peak_point, double peak_width);

// Reading of a mirror from |A| in counts. Bins are without zero padding.
struct MirrorReading {
    double bin = 0;
    double level_db = 0;
    double snr_db = 0;                 // peak power relative to the mean noise power of one A-scan
    double fwhm_bins = 0;              // width of |A|
    std::optional<double> nearer_bin;  // a peak 10 dB higher, between zero delay and the search window
};

// Bins searched for a mirror. The default 0:0 starts past the first 5 %, which may contain residual source spectrum.
struct DepthWindow {
    std::int64_t begin = 0;
    std::int64_t end = 0;  // 0 for the last one
};

// Returns the strongest peak of `amplitude`, the root mean power of `lines` A-scans with `points_per_bin` points per
// bin. A slope at the edge of the window is not a peak; with the default window it is followed to its top. Returns
// nothing if no peak is 13 dB above the noise.
std::optional<MirrorReading> mirror_reading(std::span<const double> amplitude, std::int64_t lines,
                                            const DepthWindow& window = {});

// Returns the same reading. Throws Error{bad_file} with `where` if there is none.
MirrorReading required_mirror(std::span<const double> amplitude, std::int64_t lines, const std::string& where,
                              const DepthWindow& window = {});

// Power over depth as a share of the one-sided range z_max: sinc^2(zeta) exp(-w^2 zeta^2 / (2 ln 2)) with zeta = pi/2
// z/z_max and sinc x = sin x / x.
struct FallOff {
    double at_zero_db = 0;         // level of |A|, extrapolated to zero delay
    double resolution = 0;         // w: spectral resolution relative to the sample spacing
    bool has_wide_samples = true;  // false if the roll-off is less than the loss of gapless samples: sinc^2 is omitted
    double rms_db = 0;             // deviation of the levels

    // Returns the level at a share of z_max, in dB.
    double level_db(double share) const;

    // Returns the share of z_max where the level is `loss_db` below that at zero delay, or nothing if it is out of
    // range.
    std::optional<double> share_at_loss(double loss_db) const;
};

// Mirrors closer than this are considered to be at the same depth.
inline constexpr double min_share_between = 1e-3;

// Fits the roll-off by least squares. Throws Error{bad_setting} for fewer than two levels and for two levels at the
// same depth.
FallOff fitted_fall_off(std::span<const double> shares, std::span<const double> levels_db);

// A level that deviates from the roll-off of the others.
struct Outlier {
    std::size_t mirror = 0;  // index of the level
    double from_fit_db = 0;
};

// Returns the levels that deviate from the roll-off through the others by at least 2 dB and five times the others' rms.
// Worst first, at most a quarter of the levels, and none if there are fewer than four.
std::vector<Outlier> fall_off_outliers(std::span<const double> shares, std::span<const double> levels_db);

// ---- The strongest peak of a depth profile, with sub-bin precision.

// Resolution of the profiles in which mirrors are measured.
inline constexpr std::int64_t points_per_bin = 4;

// A peak of a depth profile. Positions and widths are in points of the profile.
struct DepthPeak {
    double bin = 0;     // vertex of a parabola through the logarithm of the three highest bins
    double height = 0;  // at the vertex
    double fwhm = 0;    // width at half height in bins; 0 if the profile does not cross it on both sides
};

// Returns the peak of profile[begin, end), values >= 0. If all are zero or the range is empty, the peak is at `begin`
// with height 0.
DepthPeak strongest_peak(std::span<const double> profile, std::int64_t begin, std::int64_t end);

// ---- Measures a mirror at one depth with the calibration and recipe of a scan.

// Measurement of a mirror at one depth.
struct MirrorAtDepth {
    MirrorReading reading;          // bins without zero padding
    bool is_opposite = false;       // the mirror is beyond zero delay: sharpest with inverted dispersion
    std::int64_t lines = 0;         // number of averaged lines
    std::int64_t bins = 0;          // size of the one-sided range
    double bin_um = 0;              // in air; 0: unknown
    std::vector<double> amplitude;  // root mean power over depth, points_per_bin points per bin
};

// Measures a mirror with both signs of the dispersion and returns the higher peak, because a mirror beyond zero delay
// shows inverted dispersion. `profile_of` computes the mean profile of the mirror's lines for a spec: `given` with
// independent lines, in air, finely sampled in depth. An empty `background` selects that of the spec. Throws
// Error{bad_file} naming `name` if there is no mirror peak.
MirrorAtDepth mirror_at_depth(const ReconstructionSpec& given, const std::vector<double>& background,
                              const std::string& name, const DepthWindow& window,
                              const std::function<MeanProfile(const ReconstructionSpec&)>& profile_of);

}  // namespace echolux
