#include "compute/plan/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/plural.h"

namespace echolux {

void require_monotone(const std::vector<double>& numbers, const std::string& where) {
    const bool ascending = numbers.size() < 2 || numbers[1] > numbers[0];
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        const bool continues = ascending ? numbers[i] > numbers[i - 1] : numbers[i] < numbers[i - 1];
        require(continues,
                fmt::format("must rise or fall throughout, but number {} (counted from 0) is {} after {}", i,
                            numbers[i], numbers[i - 1]),
                where, "");
    }
}

namespace {

// Names the likely unit of numbers between `low` and `high` that are not sample positions.
std::string likely_unit(double low, double high) {
    constexpr double first = 1e-9;
    if (low >= -0.05 && low <= 0.05 && high >= 0.9 && high <= 1.1) return "positions normalised to 0..1";
    if (low >= 0.002 && high <= 0.03) return "wavenumbers in rad/nm";
    if (low >= 0.3 && high <= 2.5) return "wavenumbers in 1/um, or wavelengths in um";
    if (low > 2.5 && high <= 30) return "wavenumbers in rad/um";
    if (low >= 300 && high <= 2500) return "wavelengths in nm";
    if (low > 2500 && high <= 30'000) return "wavenumbers in 1/cm or rad/mm, or wavelengths in Angstrom";
    if (low >= 1e5 && high <= 1e8) return "wavenumbers in 1/m or rad/m";
    if (low > first && high < 1e-4) return "wavelengths in m";
    return "";
}

std::string with_unit(const std::string& remedy, const std::vector<double>& numbers) {
    const auto [low, high] = std::ranges::minmax(numbers);
    const std::string unit = likely_unit(low, high);
    return unit.empty()
               ? remedy
               : fmt::format("these look like {}; {}; wavelengths go into calibration.wavelengths", unit, remedy);
}

}  // namespace

void check_k_positions(const std::vector<double>& positions, std::int64_t samples, const std::string& where) {
    constexpr double min_part = 0.05;  // minimum part of the spectrum that a valid map uses
    const char* remedy = "positions count samples of the raw spectrum from 0";
    require_monotone(positions, where);
    const double slack = 0.01 * static_cast<double>(samples);  // real maps exceed the spectrum slightly
    const double last = static_cast<double>(samples - 1);
    for (const double position : positions) {
        if (position >= -slack && position <= last + slack) continue;
        require(false,
                fmt::format("position {} is outside 0..{} by more than 1 % of the samples", position, samples - 1),
                where, with_unit(remedy, positions));
    }
    if (positions.size() < 2) return;
    const double span = std::abs(positions.back() - positions.front());
    if (span >= min_part * last) return;
    require(false,
            fmt::format("positions {:.6g} to {:.6g} cover {:.2g} % of the line ({})", positions.front(),
                        positions.back(), 100 * span / last, plural(samples, "samples")),
            where, with_unit(remedy, positions));
}

void check_wavelengths(const std::vector<double>& wavelengths_nm, const std::string& where) {
    require_monotone(wavelengths_nm, where);
    for (const double wavelength : wavelengths_nm) {
        require(wavelength >= min_wavelength_nm && wavelength <= max_wavelength_nm,
                fmt::format("{} nm is not a wavelength of OCT", wavelength), where,
                fmt::format("give {} to {} nm", min_wavelength_nm, max_wavelength_nm));
    }
}

Background chosen_background(const Recipe& recipe, const Calibration& calibration) {
    if (recipe.background != Background::automatic) return recipe.background;
    return calibration.background.empty() ? Background::frame_mean : Background::stored;
}

Resample chosen_resample(const Recipe& recipe, const Calibration& calibration) {
    const bool mapped = !calibration.wavelengths_nm.empty() || !calibration.k_positions.empty() ||
                        !calibration.k_polynomial.empty() || !calibration.k_jitter.empty();
    return mapped ? recipe.resample : Resample::none;
}

bool needs_whole_b_scans(const Recipe& recipe) {
    return recipe.fixed_pattern != FixedPattern::none || recipe.average != Average::none;
}

bool needs_noise_floor(const Recipe& recipe, const FlowRecipe& flow) {
    const bool counted_from_it = recipe.quantity == Quantity::db && recipe.levels == Levels::noise_floor;
    return recipe.noise_floor_db == 0 && (counted_from_it || flow.method != FlowMethod::none);
}

bool needs_frame_range(const Recipe& recipe) {
    const bool codes = recipe.voxel == VoxelType::u8 || recipe.voxel == VoxelType::u16;
    return recipe.levels == Levels::frame && codes && recipe.quantity != Quantity::complex;
}

bool writes_decibel_bytes(const Recipe& recipe) {
    return recipe.voxel == VoxelType::u8 && recipe.quantity == Quantity::db && recipe.noise_floor == NoiseFloor::none;
}

DepthRange kept_depth(const Recipe& recipe, std::int64_t bins) {
    const std::int64_t end = recipe.depth_end * recipe.zero_padding;
    return {recipe.depth_begin * recipe.zero_padding, end == 0 ? bins : end};
}

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
