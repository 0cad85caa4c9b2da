// Whether all pages of a TIFF file (or BigTIFF) are there. ITK reads a truncated file as one with fewer slices.
#pragma once

#include <filesystem>

namespace echolux {

// Walks along the directories. Throws Error{bad_file} naming the page at which the file ends.
void check_tiff_pages(const std::filesystem::path& path);

}  // namespace echolux
