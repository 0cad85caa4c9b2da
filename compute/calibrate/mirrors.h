// Calibrates the k map, the dispersion and, if lengths are known, the absolute scale of an instrument from the fringes
// of one mirror at two depths. Their common phase apart from k (the dispersion of the sample arm) cancels in their
// difference, or in their sum if the mirror was on opposite sides of zero delay (docs/algorithms.md 2.4).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace echolux
