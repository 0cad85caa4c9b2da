// Raw spectra of other programs and instruments, opened without a TOML file.
#pragma once

#include <filesystem>

namespace echolux {

struct Scan;

// ---- Raw spectra recorded by OCTproZ: NAME_raw.raw with a copy of the program's settings (INI) beside it. Supported
// keys, in any group: bit_depth, width = samples, height = A-scans, depth = B-scans per buffer, buffers_per_volume.
// Also supports keys of [processing] for resampling, dispersion, flipped B-scans and bit shift.

// Returns whether the path is such a settings file, or a .raw file with one beside it.
bool is_octproz_scan(const std::filesystem::path& path);

// Fills file, format, geometry and calibration. `path` is either of the two files. Throws Error{bad_file}.
void describe_octproz(const std::filesystem::path& path, Scan& scan);

// ---- Raw B-scans of a 930 nm spectral-domain instrument (magic SD01RAW2). The file has a 512-byte header, a 40-byte
// frame header, background lines, the A-scans (all u16 little-endian), an offset spectrum, and the position of each
// sample on the uniform k grid (both f32).

// Returns whether the file begins with the magic.
bool is_sd01raw2(const std::filesystem::path& path);

// Fills file, format, geometry and calibration (background: mean of the background lines; k positions). The offset
// spectrum is ignored: it is summed over an unknown number of exposures, so its unit is unknown. Throws
// Error{bad_file}.
void describe_sd01raw2(const std::filesystem::path& path, Scan& scan);

// ---- Raw spectra of adaptive-optics OCT instruments: NAME.unp with only u16 samples, and NAME.xml with the numbers of
// samples, A-scans, B-scans and repeats.

// Returns whether the path is NAME.unp with such a NAME.xml beside it.
bool is_unp(const std::filesystem::path& path);

// Fills file and geometry. Throws Error{bad_file} if the XML file lacks sizes or they do not match the file.
void describe_unp(const std::filesystem::path& path, Scan& scan);

// Returns the path of the XML file.
std::filesystem::path xml_of_unp(const std::filesystem::path& path);

// ---- Raw spectra in Thorlabs .oct archives (ThorImage; data/Spectral0.data, ...) as one scan. The layout follows
// Thorlabs' MATLAB reader.

// Decompresses the spectra to a file that is removed with the last copy of `scan`. Calibration: chirp -> k positions,
// offset errors -> dark, reference lines -> background. Throws Error{bad_file, output (disk full)}.
void describe_thorlabs(const std::filesystem::path& path, Scan& scan);

}  // namespace echolux
