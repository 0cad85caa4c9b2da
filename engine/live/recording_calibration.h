// The calibration of a recording lies in files beside it, so that it needs nothing else. A file that is there already
// is somebody's: it is neither replaced nor removed, and the copy takes another name.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/scan/scan.h"

namespace echolux {

// Writes what `scan` has loaded, whole and on the disk, into new files beside `scan.path`, names them in
// `scan.calibration_files` and adds them to `made`, also when one fails. Throws Error{output}.
void copy_calibration(Scan& scan, std::vector<std::filesystem::path>& made);

// The files that the recording `scan_toml` made this way. None where it is no recording, or cannot be read.
std::vector<std::filesystem::path> calibration_made_by(const std::filesystem::path& scan_toml);

}  // namespace echolux
