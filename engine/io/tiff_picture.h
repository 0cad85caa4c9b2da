// TIFF pictures: one page, deflate-compressed strips with horizontal differences, texts in tags (TIFF revision 6.0; for
// deflate Adobe Photoshop TIFF Technical Notes 2002).
#pragma once

#include "engine/io/picture_file.h"

namespace echolux {

// See create_picture().
std::unique_ptr<PictureWriter> create_tiff_picture(const std::filesystem::path& path, const PictureShape& shape,
                                                   const PictureTexts& texts);

// See picture_texts().
PictureTexts tiff_picture_texts(const std::filesystem::path& path);

}  // namespace echolux
