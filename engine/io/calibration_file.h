// Vectors that calibrate a scan, from files: one number a line, or a few (CSV: the last columns, '#' starts a comment,
// one heading line may stand first), or raw little-endian f32/f64 in *.f32 and *.f64.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace echolux {

// Writes what read_calibration() reads back bit for bit; `comment` (one line) stands first. Throws Error{output}.
void write_calibration(const std::filesystem::path& path, const std::vector<double>& values,
                       const std::string& comment);

// `key` names the setting in messages. `length` 0: any whole number of rows. Numbers come row by row. Throws
// Error{bad_file} naming file, line and key: missing, unreadable, not finite, wrong length.
std::vector<double> read_calibration(const std::filesystem::path& path, std::int64_t length, const std::string& key,
                                     std::int64_t columns = 1);

}  // namespace echolux
