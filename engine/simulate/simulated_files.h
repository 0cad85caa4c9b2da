// The files of a simulated scan: their names, and whether what is there is one.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "engine/io/output_rule.h"

namespace echolux {

// Of the files beside NAME.toml: spectra, background, dark, wavelengths.
inline constexpr std::array companion_endings{".raw", ".background.f32", ".dark.f32", ".wavelengths.f64"};

// Whether it is a scan that simulate() wrote: neither a recording, of whatever source, nor anybody's own.
bool is_own_simulation(const std::filesystem::path& scan_toml);

// All that simulate() writes. Files beside the TOML, and the truth, go with it: they are replaced where it is.
std::vector<Output> outputs_of_simulation(const std::filesystem::path& scan_toml);

}  // namespace echolux
