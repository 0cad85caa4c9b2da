// Detects the unit of wavelengths. OCT uses light of 0.1 to 20 um, so nanometres, micrometres and metres differ by
// their magnitude.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace echolux {

// A unit and its length in nm.
struct WavelengthUnit {
    std::string_view name;  // "um"
    double nm = 1;
};

inline constexpr double min_wavelength_nm = 100, max_wavelength_nm = 20'000;
inline constexpr std::array<WavelengthUnit, 3> wavelength_units{{{"nm", 1}, {"um", 1e3}, {"m", 1e9}}};

// Returns the unit in which all wavelengths are in the range of OCT, if any.
std::optional<WavelengthUnit> wavelength_unit_of(std::span<const double> wavelengths);

}  // namespace echolux
