// Stereo pictures: the views of both eyes, and their combination. The eyes have parallel axes and off-centre
// projections, so that both pictures coincide at the target's depth without keystone distortion (L. Hodges, D.
// McAllister, "Stereo computer graphics", IEEE Computer Graphics and Applications 1985).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "render/picture.h"
#include "render/view/view.h"

namespace echolux {

// Returns the views of the eyes, left first; only the view itself if the picture is not in stereo.
std::vector<View> eyes_of(const View& view);

// Combines the same rows of each eye's picture, RGBA with straight alpha. Anaglyphs use the left eye's luminance for
// red and the right eye's green and blue, with the larger opacity of the two.
std::vector<std::byte> joined(const View& view, PictureBits bits, std::vector<std::vector<std::byte>> eyes);

}  // namespace echolux
