// Layout of a volume that the device cannot hold as one texture.
//
// The volume is cut into pages, which are stored in a pool: an atlas texture of equal slots. A page has a border of one
// voxel, so that filtering stays within its slot. The coarse level is the volume reduced by a power of two. It is cut
// into pages of the same size that always stay in the pool, and replaces the pages that are not loaded.
#pragma once

#include <cstdint>

#include "compute/types.h"
#include "render/slots/voxel_source.h"

namespace echolux {

inline constexpr std::int64_t page_border = 1;  // in voxels, on each side

// Limits of the device for a volume.
struct TextureRoom {
    std::int64_t edge = 0;   // max edge of a 3-D texture, in voxels
    std::int64_t bytes = 0;  // max size of the pool
    std::int64_t bytes_per_voxel = 0;
};

struct PageLayout {
    Indices voxels{};            // of the volume
    Indices page{};              // edges of a page without its border, powers of two
    Indices pages{};             // along each axis
    Indices slots{};             // of the pool, along each axis
    std::int64_t reduction = 1;  // ratio of full to coarse resolution along each axis
    Indices coarse_voxels{};
    Indices coarse_pages{};
    int brick_edge = 4;  // in voxels, a power of two; bricks never cross pages

    Indices stored() const;  // edges of a slot: a page with its border, in voxels
    std::int64_t page_count() const { return pages[0] * pages[1] * pages[2]; }
    std::int64_t coarse_count() const { return coarse_pages[0] * coarse_pages[1] * coarse_pages[2]; }
    std::int64_t slot_count() const { return slots[0] * slots[1] * slots[2]; }
    std::int64_t slot_voxels() const;

    // Convert numbers (first axis fastest) to positions along the axes.
    Indices page_at(std::int64_t number) const;
    Indices coarse_page_at(std::int64_t number) const;
    Indices slot_at(std::int64_t number) const;  // in slots, not voxels

    std::int64_t coarse_page_of(const Indices& page) const;  // number of the coarse page that covers this page
    VoxelBox box_of(const Indices& page) const;              // in voxels, without the border
};

// Returns a layout whose pool holds all pages if there is room. The coarse level takes at most an eighth of the pool,
// and its reduction is as small as that allows. `page_edge` is a power of two. Throws Error{out_of_memory} with sizes
// if even the coarsest level does not fit.
PageLayout page_layout(const VolumeGrid& grid, const TextureRoom& room, std::int64_t page_edge);

}  // namespace echolux
