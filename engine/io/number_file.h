// Numbers in text files (CSV): calibration vectors of a scan, and height maps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace echolux {

// ---- calibration vectors --------------------------------------------------------------------------------------------
// Text files (CSV) hold one number or a few columns per line, of which the last columns are read. '#' starts a comment,
// and the first line may be a heading. Files named *.f32 and *.f64 hold raw little-endian numbers.

enum class CalibrationKind { spectrum, noise_floor, k_map, dispersion };

// Writes a vector that read_calibration() reads back bit for bit, for *.f32 after rounding to float. Text files start
// with the kind and `comment` (one line). Throws Error{output}.
void write_calibration(const std::filesystem::path& path, CalibrationKind kind, const std::vector<double>& values,
                       const std::string& comment);

// Returns whether write_calibration() wrote the file as this kind. Always false for raw numbers (*.f32, *.f64).
bool is_own_calibration(const std::filesystem::path& path, CalibrationKind kind);

// Reads a vector, or a table of `columns` row by row. `length` is the expected count of numbers; 0 accepts any number
// of complete rows. `key` names the setting in messages. Throws Error{bad_file}, naming file, line and key, if the file
// is missing, unreadable, contains non-finite numbers or has the wrong length.
std::vector<double> read_calibration(const std::filesystem::path& path, std::int64_t length, const std::string& key,
                                     std::int64_t columns = 1);

// ---- height maps ----------------------------------------------------------------------------------------------------
// One depth per A-scan, in micrometres from zero delay. CSV files have one line per B-scan and one number per A-scan,
// separated by commas, semicolons or blanks; '#' starts a comment. In volume files (NRRD, TIFF, ...), columns are
// A-scans and rows are B-scans; if there is only one row, slices are B-scans.

// Reads a map as [b_scan][a_scan]. Throws Error{bad_file}, naming file and line, if it is missing, unreadable, of
// another size, or contains a non-finite number.
std::vector<float> read_heights(const std::filesystem::path& path, std::int64_t a_scans, std::int64_t b_scans);

}  // namespace echolux
