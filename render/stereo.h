// Pictures for two eyes: what each of them sees, and how the two become one picture. The eyes look past each other's
// sides of the target with parallel axes, so that what lies at the target's depth falls together and nothing is
// keystoned (L. Hodges, D. McAllister, "Stereo computer graphics", IEEE Computer Graphics and Applications 1985).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "render/picture.h"
#include "render/view/view.h"

namespace echolux {

// From the left; one, the view itself, where the picture is not for two.
std::vector<View> eyes_of(const View& view);

// As many rows of each eye's picture, RGBA with straight alpha, as rows of the picture. Anaglyphs have the left eye's
// luminance in red and the right eye's green and blue, and are as opaque as the more opaque of the two.
std::vector<std::byte> joined(const View& view, PictureBits bits, std::vector<std::vector<std::byte>> eyes);

}  // namespace echolux
