#include "compute/plan/same_spec.h"

#include <tuple>

namespace echolux {
namespace {

// Returns all members for comparison. The structured binding fails to compile if a member is missing.
auto members(const Calibration& calibration) {
    const auto& [background, dark, k_positions, wavelengths, k_polynomial, dispersion, mask, noise_floor, k_jitter,
                 fast_axis, dispersion_holds, depth_pitch, centre_wavelength] = calibration;
    return std::tie(background, dark, k_positions, wavelengths, k_polynomial, dispersion, mask, noise_floor, k_jitter,
                    fast_axis, dispersion_holds, depth_pitch, centre_wavelength);
}

}  // namespace

bool is_same_calibration(const Calibration& a, const Calibration& b) {
    return members(a) == members(b);
}

bool is_same_plan(const ReconstructionSpec& a, const ReconstructionSpec& b) {
    ScanGeometry geometry = b.geometry;
    if (a.calibration.k_jitter.empty()) geometry.volumes = a.geometry.volumes;
    return a.block_b_scans == b.block_b_scans && has_same_settings(a.geometry, geometry) &&
           has_same_settings(a.format, b.format) && has_same_settings(a.recipe, b.recipe) &&
           has_same_settings(a.flow, b.flow) && has_same_settings(a.nufft, b.nufft) &&
           has_same_settings(a.defr, b.defr) && has_same_settings(a.compressive, b.compressive) &&
           is_same_calibration(a.calibration, b.calibration);
}

}  // namespace echolux
