// In which unit wavelengths were given: OCT uses light of 0.1 to 20 um, so that nanometres, micrometres and metres tell
// themselves apart by their size.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace echolux {

struct WavelengthUnit {
    std::string_view name;  // "um"
    double nm = 1;
};

inline constexpr double min_wavelength_nm = 100, max_wavelength_nm = 20'000;
inline constexpr std::array<WavelengthUnit, 3> wavelength_units{{{"nm", 1}, {"um", 1e3}, {"m", 1e9}}};

// Nothing: in no unit are all of them wavelengths of such light.
std::optional<WavelengthUnit> wavelength_unit_of(std::span<const double> wavelengths);

}  // namespace echolux
