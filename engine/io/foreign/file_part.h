// Selection of one of several pictures in a file, after a colon: scans.mat:volume, dicom_folder:3.
#pragma once

#include <filesystem>
#include <string>

namespace echolux {

struct FilePart {
    std::filesystem::path file;
    std::string part;  // empty if not given
};

// Splits the path at its last colon. A path that exists as written has no part, even if it contains colons.
FilePart file_part(const std::filesystem::path& path);

}  // namespace echolux
