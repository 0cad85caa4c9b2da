// Vectors that calibrate a scan, from files: one number a line, or a few (CSV: the last columns, '#' starts a comment,
// one heading line may stand first), or raw little-endian f32/f64 in *.f32 and *.f64.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace echolux {

enum class CalibrationKind { spectrum, noise_floor, k_map, dispersion };

// Writes what read_calibration() reads back bit for bit; the kind and `comment` (one line) stand first. Throws
// Error{output}.
void write_calibration(const std::filesystem::path& path, CalibrationKind kind, const std::vector<double>& values,
                       const std::string& comment);

// Whether write_calibration() wrote the file as this kind. Bare numbers (*.f32, *.f64) cannot tell.
bool is_own_calibration(const std::filesystem::path& path, CalibrationKind kind);

// `key` names the setting in messages. `length` 0: any whole number of rows. Numbers come row by row. Throws
// Error{bad_file} naming file, line and key: missing, unreadable, not finite, wrong length.
std::vector<double> read_calibration(const std::filesystem::path& path, std::int64_t length, const std::string& key,
                                     std::int64_t columns = 1);

}  // namespace echolux
