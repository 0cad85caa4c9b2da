#include "compute/plan/wavelength_unit.h"

#include <algorithm>

namespace echolux {

std::optional<WavelengthUnit> wavelength_unit_of(std::span<const double> wavelengths) {
    const auto found = std::ranges::find_if(wavelength_units, [&](const WavelengthUnit& unit) {
        return std::ranges::all_of(wavelengths, [&](double wavelength) {
            return wavelength * unit.nm >= min_wavelength_nm && wavelength * unit.nm <= max_wavelength_nm;
        });
    });
    if (wavelengths.empty() || found == wavelength_units.end()) return std::nullopt;
    return *found;
}

}  // namespace echolux
