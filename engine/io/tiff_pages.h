// Whether all pages of a TIFF file (or BigTIFF) are there and of one kind. ITK reads a truncated file as one with fewer
// slices, and reads beyond its memory when a page differs from the first.
#pragma once

#include <filesystem>

namespace echolux {

// Walks along the directories. Throws Error{bad_file} naming the page that is incomplete or different.
void check_tiff_pages(const std::filesystem::path& path);

}  // namespace echolux
