// The k map, the dispersion and, where lengths are known, the absolute scale of an instrument, from the fringes of one
// mirror at two depths. What both fringes share besides k (the dispersion of the sample arm) cancels in their
// difference, or in their sum where the mirror stood on opposite sides of zero delay (docs/algorithms.md 2.4).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// Of zero delay. Two mirrors cannot tell: either assumption gives a map and a dispersion that sharpen both. Only depths
// elsewhere would be blurred by the wrong one, so whoever moved the mirror has to say (docs/algorithms.md 2.4).
enum class MirrorSides { same, opposite };

// Mean spectra in counts [samples].
struct MirrorPair {
    std::array<std::vector<double>, 2> mirrors;  // the first on the side where samples will be
    std::vector<double> background;              // without the mirror
    std::vector<double> dark;                    // without light; empty: unknown, all light counts alike
    MirrorSides sides = MirrorSides::same;
    bool k_falls = false;             // k descends along the samples; mirrors alone cannot tell
    double displacement_um = 0;       // between the two positions, in air; 0: unknown
    double centre_wavelength_nm = 0;  // 0: unknown
};

// What one mirror showed, for a picture of it.
struct MirrorCurves {
    std::vector<double> phase_rad;                       // of its fringe at each sample, rising along the samples
    std::vector<double> as_recorded, mapped, sharpened;  // |A| over depth in counts: as mirror_profile()
};

struct MirrorCalibration {
    std::vector<double> k_positions;     // as Calibration::k_positions [samples]
    std::vector<double> dispersion_rad;  // theta on the k grid [samples], of the first mirror's side
    double a2_rad = 0;                   // the same as coefficients
    double a3_rad = 0;
    std::array<double, 2> a2_of_each_rad{};  // as each mirror shows it alone; opposite signs on opposite sides
    std::array<double, 2> bin{};             // depth of each, with the new map
    std::array<double, 2> fwhm_before{};     // bins, of |A| under a Hann window, with neither map nor dispersion
    std::array<double, 2> fwhm_mapped{};     // with the map alone
    std::array<double, 2> fwhm{};            // with both
    double depth_pitch_um = 0;               // as Calibration::depth_pitch_um; 0: no displacement was given
    double centre_wavelength_nm = 0;
    std::array<MirrorCurves, 2> curves;
    std::vector<double> residual_rad;  // of the phase that is k, from the polynomial through it [samples]
    double trimmed_share = 0;          // of the samples at each end, which had no say
};

// Throws Error{bad_setting} where a mirror shows no fringe, lengths differ, or no strictly monotone map comes out.
MirrorCalibration calibrated_by_mirrors(const MirrorPair& pair);

// |A| over depth of `fringe` (counts, no background) under a Hann window, in counts; `points_per_bin` points a bin.
// `k_positions` empty: samples as they are; `theta_rad` empty: none.
std::vector<double> mirror_profile(std::span<const double> fringe, const std::vector<double>& k_positions,
                                   const std::vector<double>& theta_rad);

// The peak of that profile from bin `begin` on, and its FWHM, in bins.
struct PointSpread {
    double bin = 0;
    double fwhm = 0;
};
PointSpread point_spread(std::span<const double> profile, std::int64_t begin);

}  // namespace echolux
