// Converts the renderer's image to a picture for writing.
#pragma once

#include <string>
#include <utility>

#include "engine/io/png_file.h"
#include "render/renderer.h"

namespace echolux {

inline Picture picture_of(Image image) {
    return {image.width, image.height, 4, std::move(image.pixels), {}};
}

}  // namespace echolux
