// Effective settings of a spec, and checks of its values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/plan/params.h"
#include "compute/types.h"

namespace echolux {

// ---- Effective settings of a spec: resolved defaults and properties derived from them.

// Returns recipe.background with `automatic` resolved.
Background chosen_background(const Recipe& recipe, const Calibration& calibration);

// Returns recipe.resample, or none if the calibration has no k map and no k jitter.
Resample chosen_resample(const Recipe& recipe, const Calibration& calibration);

// Returns whether whole B-scans must be stored as complex depth bins before voxels can be computed.
bool needs_whole_b_scans(const Recipe& recipe);

// Returns whether the 0 dB level must be measured before planning (compute/calibrate).
bool needs_noise_floor(const Recipe& recipe, const FlowRecipe& flow);

// Returns whether the codes of each B-scan span its own min to max.
bool needs_frame_range(const Recipe& recipe);

// Returns whether voxels are dB codes of one byte without a noise floor, for which there are fast conversions.
bool writes_decibel_bytes(const Recipe& recipe);

// Kept depth bins [begin, end), including those from zero padding.
struct DepthRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
DepthRange kept_depth(const Recipe& recipe, std::int64_t bins);

// Returns the number of B-scans per slow-axis position: several if repeats are stored side by side.
inline std::int64_t slices_per_b_scan(const VolumeGrid& grid, const ScanGeometry& geometry) {
    return grid.b_scans / geometry.b_scans;
}

// Checks that numbers are strictly monotone. Throws Error{bad_setting} naming `where`.
void require_monotone(const std::vector<double>& numbers, const std::string& where);

// Checks that positions are strictly monotone and inside the spectrum, with a tolerance of 1 % of the samples. Throws
// Error{bad_setting} naming `where`.
void check_k_positions(const std::vector<double>& positions, std::int64_t samples, const std::string& where);

// Checks that wavelengths are strictly monotone and in the range that OCT uses. Throws Error{bad_setting} naming
// `where`.
void check_wavelengths(const std::vector<double>& wavelengths_nm, const std::string& where);

// ---- Detects the unit of wavelengths. OCT uses light of 0.1 to 5 um, so nanometres, micrometres and metres differ by
// their magnitude.

// A unit and its length in nm.
struct WavelengthUnit {
    std::string_view name;  // "um"
    double nm = 1;
};

inline constexpr double min_wavelength_nm = 100, max_wavelength_nm = 5'000;
inline constexpr std::array<WavelengthUnit, 4> wavelength_units{
    {{"nm", 1}, {"um", 1e3}, {"m", 1e9}, {"Angstrom", 0.1}}};

// Returns the unit in which all wavelengths are in the range of OCT, if any.
std::optional<WavelengthUnit> wavelength_unit_of(std::span<const double> wavelengths);

// Throws Error{bad_setting} with the key and a remedy unless `condition` holds.
inline void require(bool condition, std::string what, std::string key, std::string remedy) {
    if (!condition) throw Error(ErrorCode::bad_setting, std::move(what), std::move(key), std::move(remedy));
}

}  // namespace echolux
