// Reads PNG files chunk by chunk without decoding pixels.
#pragma once

#include <filesystem>

#include "engine/io/picture_file.h"

namespace echolux {

// Checks that no chunk claims more bytes than the file has, because libpng allocates whatever a chunk claims. Throws
// Error{bad_file} naming the file if it is missing, is not a PNG file or is too short.
void check_png_chunks(const std::filesystem::path& path);

// Returns the texts of tEXt and uncompressed iTXt chunks of up to 16 MiB. Throws as check_png_chunks(), and if a text
// is damaged.
PictureTexts png_texts(const std::filesystem::path& path);

}  // namespace echolux
