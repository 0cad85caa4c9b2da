// A short fingerprint of a file, so that a result says which calibration it was made with.
#pragma once

#include <filesystem>
#include <string>

namespace echolux {

// 64-bit FNV-1a of the file's bytes as 16 hexadecimal digits; "missing" when it cannot be read.
std::string file_hash(const std::filesystem::path& path);

}  // namespace echolux
