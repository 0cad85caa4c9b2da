// Vectors that calibrate a scan, from files: one number a line (CSV: the last column, '#' starts a comment, one heading
// line may stand first), or raw little-endian f32/f64 in *.f32 and *.f64.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace echolux {

// `key` names the setting in messages. `length` 0: any. Throws Error{bad_file} naming file, line and key: missing,
// unreadable, not finite, wrong length.
std::vector<double> read_calibration(const std::filesystem::path& path, std::int64_t length, const std::string& key);

// Throws Error{bad_file} naming `where`: not strictly monotone, or further outside 0..samples-1 than 1 % of samples
// (less is clamped when the map is used).
void check_k_positions(const std::vector<double>& positions, std::int64_t samples, const std::string& where);

// Throws Error{bad_file} naming `where`: not strictly monotone or not positive.
void check_wavelengths(const std::vector<double>& wavelengths_nm, const std::string& where);

}  // namespace echolux
