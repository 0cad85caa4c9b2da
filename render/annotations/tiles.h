// Which shapes touch which tile of a picture, so that the device looks at few shapes a pixel and at no empty tile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "render/region.h"
#include "shaders/shared/annotate.h"

namespace echolux {

struct Tiles {
    std::vector<shared::uvec4> tiles;  // left, top in tiles of the region; first and end in the list
    std::vector<std::uint32_t> list;   // indices of shapes; those of a tile in their order
};

// Tiles of a region of the picture that shapes touch.
Tiles tiles_of(std::span<const shared::Shape> shapes, const Region& region);

}  // namespace echolux
