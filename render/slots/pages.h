// Layout of a volume that the device cannot hold as one texture.
//
// The volume is cut into pages, which are stored in a pool: an atlas texture of equal slots. A page has a border of one
// voxel, so that filtering stays within its slot. The coarse level is the volume reduced by a power of two. It is cut
// into pages of the same size that always stay in the pool, and replaces the pages that are not loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "compute/indexing.h"
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

// ---- A single pass over all voxels of a large volume, page by page on all cores. It computes the coarse level and the
// range of values of each brick. Only the coarse level must reach the device before the first picture.

struct ValueBounds {  // as texture values
    float min, max;
};

struct PageSurvey {
    std::vector<std::byte> coarse;    // layout.coarse_voxels voxels in the texture's format: means of boxes of voxels
    std::vector<ValueBounds> bricks;  // range within each brick, depth fastest
};

// Returns the survey of a volume. `brick_edge` is a power of two. `done` is called on the calling thread with the
// number of voxels finished since the last call; it may throw to cancel. Throws the errors of the source.
PageSurvey surveyed(const VoxelSource& source, const PageLayout& layout, const StoredCodes& storage, int brick_edge,
                    const std::function<void(std::int64_t voxels)>& done);

// ---- Assignment of pages to the slots of a pool with LRU replacement. Host state only: the caller moves the voxels.

class PagePool {
  public:
    explicit PagePool(std::int64_t slots) : slots_(index(slots)) {}

    struct PageSlot {
        std::int64_t page, slot;
    };
    struct Plan {
        std::vector<std::int64_t> leaving;  // pages that have left their slot
        std::vector<PageSlot> coming;       // pages to fill and then hold(), in the order of `needed`
    };

    // Frees slots for the pages of a picture. If there are not enough slots, the first pages of `needed` take
    // precedence.
    Plan plan(std::span<const std::int64_t> needed);

    // Records that the slot now contains the page.
    void hold(const PageSlot& placement);

    bool holds(std::int64_t page) const { return slot_of_.contains(page); }
    std::int64_t capacity() const { return std::ssize(slots_); }

  private:
    struct Slot {
        std::int64_t page = -1;  // -1: empty
        std::int64_t used = 0;   // number of the last picture that used it
    };

    std::vector<Slot> slots_;
    std::unordered_map<std::int64_t, std::int64_t> slot_of_;
    std::int64_t picture_ = 0;
};

// ---- Pages of a large volume that all panes of a window need together. If each pane filled the pool on its own, panes
// would evict each other's pages in every frame.

class PageNeeds {
  public:
    // Marks the pane as requested. Forgets the panes that were not requested since its previous request: they are no
    // longer shown.
    void ask(std::size_t pane);

    // Returns true if the needs of the pane are known.
    bool has(std::size_t pane) const { return needs_.contains(pane); }

    // Sets the pages that the new picture of a requested pane needs, nearest to the eye first.
    void set(std::size_t pane, std::vector<std::int64_t> pages);
    const std::vector<std::int64_t>& of(std::size_t pane) const { return needs_.at(pane).pages; }

    // Returns each page once, in order of priority: panes with few pages, such as sections, come first, `others` last.
    std::vector<std::int64_t> together(std::span<const std::int64_t> others = {}) const;

    // Records the number of pages in the pool that the pane needs. Returns a counter that increases when the number
    // exceeds that of the pane's picture: only then is a new picture worthwhile.
    std::uint64_t note_held(std::size_t pane, std::int64_t pages);

  private:
    struct Need {
        std::vector<std::int64_t> pages;
        std::uint64_t asked = 0;    // number of the last request, counted over all panes
        std::int64_t max_held = 0;  // largest number of held pages since the picture was made
        std::uint64_t gains = 0;
    };

    std::map<std::size_t, Need> needs_;
    std::uint64_t asked_ = 0;
};

}  // namespace echolux
