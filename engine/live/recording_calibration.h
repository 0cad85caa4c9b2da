// Calibration of a recording is copied to files next to it, so that the recording is complete. Existing files belong to
// the user: they are not replaced or removed, and a copy gets another name.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/scan/scan.h"

namespace echolux {

// Writes the calibration loaded in `scan`, flushed to disk, to new files next to `scan.path`. Names them in
// `scan.calibration_files` and appends them to `made`, even if a later file fails. Throws Error{output}.
void copy_calibration(Scan& scan, std::vector<std::filesystem::path>& made);

// Returns the files that the recording `scan_toml` wrote in this way. Empty if it is not a recording or cannot be read.
std::vector<std::filesystem::path> calibration_made_by(const std::filesystem::path& scan_toml);

}  // namespace echolux
