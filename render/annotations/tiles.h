// Assignment of shapes to the tiles of a picture, so that the device tests few shapes per pixel and skips empty tiles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "render/region.h"
#include "shaders/shared/annotate.h"

namespace echolux {

struct Tiles {
    std::vector<shared::uvec4> tiles;  // left and top in tiles of the region; first and end index in `list`
    std::vector<std::uint32_t> list;   // indices of shapes, in drawing order within each tile
};

// Returns the tiles of a region that contain shapes.
Tiles tiles_of(std::span<const shared::Shape> shapes, const Region& region);

}  // namespace echolux
