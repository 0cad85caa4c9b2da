// Some files hold several pictures, of which one is named behind a colon: scans.mat:volume, dicom_folder:3.
#pragma once

#include <filesystem>
#include <string>

namespace echolux {

struct FilePart {
    std::filesystem::path file;
    std::string part;  // empty: none is named
};

// A path that exists as it stands names no part, whatever colons it has.
FilePart file_part(const std::filesystem::path& path);

}  // namespace echolux
