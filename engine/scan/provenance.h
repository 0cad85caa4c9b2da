// Origin of voxels, stored with them in files so that they can be reproduced.
#pragma once

#include <map>
#include <string>

#include "engine/scan/scan.h"

namespace echolux {

// Returns program version, backend, source, all settings that differ from their defaults, and hashes of calibration
// files, by key. A missing calibration file has the hash "missing".
std::map<std::string, std::string> provenance_of(const Scan& scan, const std::string& backend);

}  // namespace echolux
