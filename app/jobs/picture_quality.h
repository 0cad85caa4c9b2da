// How well a picture uses its grays.
#pragma once

#include "engine/io/png_file.h"

namespace echolux {

struct PictureQuality {
    double clipped = 0;     // share of pixels that are black or white
    double gray_range = 0;  // share of the grays between the 0.1 and the 99.9 percentile
};

// Of the luminance (Rec. 709) of every pixel.
PictureQuality quality_of(const Picture& picture);

}  // namespace echolux
