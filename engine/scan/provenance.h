// Where voxels come from, kept with them in files: what it takes to make them again.
#pragma once

#include <map>
#include <string>

#include "engine/scan/scan.h"

namespace echolux {

// Program, backend, source, every setting that is not at its default, hashes of calibration files. Throws
// Error{bad_file}: one of these is gone.
std::map<std::string, std::string> provenance_of(const Scan& scan, const std::string& backend);

}  // namespace echolux
