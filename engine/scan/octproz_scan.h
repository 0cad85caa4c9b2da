// Raw spectra recorded by OCTproZ: NAME_raw.raw, and beside it a copy of the program's settings (INI). Known are the
// keys of the acquisition (bit_depth, width = samples, height = A-scans, depth = B-scans of a buffer,
// buffers_per_volume) whatever group they stand in, and those of [processing] that say how spectra were resampled,
// which B-scans are flipped and how samples are shifted.
#pragma once

#include <filesystem>

namespace echolux {

struct Scan;

// Whether it is such a settings file, or a .raw file beside one.
bool is_octproz_scan(const std::filesystem::path& path);

// Either of the two. Throws Error{bad_file}.
void describe_octproz(const std::filesystem::path& path, Scan& scan);

}  // namespace echolux
