// How a volume that the device cannot hold as one texture is cut into pages, and how these lie in a pool: an atlas
// texture of equal slots. A page has a border of one voxel, so that filtering never leaves its slot. The coarse level,
// the volume reduced by a power of two, is cut into pages of the same size that always stay in the pool: whatever is
// not there in full can be seen from it.
#pragma once

#include <cstdint>

#include "compute/types.h"
#include "render/slots/voxel_source.h"

namespace echolux {

inline constexpr std::int64_t page_border = 1;  // voxels

// What the device has for a volume.
struct TextureRoom {
    std::int64_t edge = 0;   // of a 3-D texture, voxels
    std::int64_t bytes = 0;  // of the pool
    std::int64_t bytes_per_voxel = 0;
};

struct PageLayout {
    Indices voxels{};            // of the volume
    Indices page{};              // edges of a page without its border: powers of two
    Indices pages{};             // along each axis
    Indices slots{};             // of the pool, along each axis
    std::int64_t reduction = 1;  // voxels of the volume to one of the coarse level, along each axis
    Indices coarse_voxels{};
    Indices coarse_pages{};
    int brick_edge = 4;  // voxels, a power of two; never across pages

    Indices stored() const;  // edges of a slot
    std::int64_t page_count() const { return pages[0] * pages[1] * pages[2]; }
    std::int64_t coarse_count() const { return coarse_pages[0] * coarse_pages[1] * coarse_pages[2]; }
    std::int64_t slot_count() const { return slots[0] * slots[1] * slots[2]; }
    std::int64_t slot_voxels() const;

    // From numbers, first axis fastest, to places.
    Indices page_at(std::int64_t number) const;
    Indices coarse_page_at(std::int64_t number) const;
    Indices slot_at(std::int64_t number) const;  // along each axis, in slots

    std::int64_t coarse_page_of(const Indices& page) const;  // the number of the one that shows the same
    VoxelBox box_of(const Indices& page) const;              // without its border
};

// The pool holds all pages where there is room, and the coarse level takes an eighth of them at most. `page_edge` is a
// power of two. Throws Error{out_of_memory} with the sizes where not even the coarsest level fits.
PageLayout page_layout(const VolumeGrid& grid, const TextureRoom& room, std::int64_t page_edge);

}  // namespace echolux
