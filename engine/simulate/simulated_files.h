// File names of a simulated scan, and a check whether a scan is simulated.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "engine/io/output_rule.h"

namespace echolux {

// Endings of the files next to NAME.toml: spectra, background, dark, wavelengths.
inline constexpr std::array companion_endings{".raw", ".background.f32", ".dark.f32", ".wavelengths.f64"};

// Returns whether simulate() wrote the scan. Recordings and scans from elsewhere return false.
bool is_own_simulation(const std::filesystem::path& scan_toml);

// Returns everything that simulate() writes. The files next to the TOML file and the folder truth/ belong to it and may
// be replaced together with it.
std::vector<Output> outputs_of_simulation(const std::filesystem::path& scan_toml);

}  // namespace echolux
