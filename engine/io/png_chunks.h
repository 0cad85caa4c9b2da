// PNG files chunk by chunk, without decoding pixels.
#pragma once

#include <filesystem>

#include "engine/io/picture_file.h"

namespace echolux {

// libpng takes memory for as many bytes as a chunk claims: this makes sure beforehand that they are there. Throws
// Error{bad_file} naming the file: not there, no PNG file, shorter than its chunks claim.
void check_png_chunks(const std::filesystem::path& path);

// Texts of tEXt and uncompressed iTXt chunks of at most 16 MiB. Throws as check_png_chunks(), and for damaged texts.
PictureTexts png_texts(const std::filesystem::path& path);

}  // namespace echolux
