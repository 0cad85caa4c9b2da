// TIFF pictures: one page, deflated strips with horizontal differences, texts in its tags (TIFF revision 6.0; Adobe
// Photoshop TIFF Technical Notes 2002 for deflate). See picture_file.h.
#pragma once

#include "engine/io/picture_file.h"

namespace echolux {

std::unique_ptr<PictureWriter> create_tiff_picture(const std::filesystem::path& path, const PictureShape& shape,
                                                   const PictureTexts& texts);

PictureTexts tiff_picture_texts(const std::filesystem::path& path);

}  // namespace echolux
