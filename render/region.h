// A rectangle of a picture, in pixels from its top left corner.
#pragma once

#include <cstdint>

namespace echolux {

struct Region {
    std::int64_t left = 0, top = 0, width = 0, height = 0;
};

}  // namespace echolux
