// A volume too large for one texture: a pool of pages that follows the needs of the pictures, and a coarse level that
// replaces missing pages. See pages.h.
//
// Shaders sample the pool's texture through a page table. Its entry for a page holds a slot and whether the slot
// contains the page itself or the coarse page that covers it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "render/gpu_device.h"
#include "render/picture.h"
#include "render/slots/pages.h"
#include "render/slots/volume_texture.h"
#include "render/slots/voxel_source.h"
#include "render/view/view.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"

namespace echolux {

class PagedVolume {
  public:
    // Reads all voxels once and uploads the coarse level. For later volumes of a series, `chosen` is the range of the
    // first one. `done` is called with the number of voxels read since the last call; it may throw to cancel. Throws
    // Error{bad_setting, out_of_memory} and the errors of the source.
    PagedVolume(const gpu::Device& device, gpu::Queue& queue, const BrickBuilder& builder, const VolumeLimits& limits,
                std::shared_ptr<const VoxelSource> source, const std::optional<ValueRange>& chosen,
                const std::function<void(std::int64_t voxels)>& done);

    const PageLayout& layout() const { return layout_; }
    const VolumeTexture& texture() const { return texture_; }  // of the pool
    const gpu::DeviceImage& table() const { return table_; }

    // Returns the boxes of the pool's texture that contain the coarse level, without borders.
    std::vector<VoxelBox> coarse_boxes() const;

    std::uint64_t changes() const { return changes_; }  // counts changes of the pool's content

    // Loads the pages that a picture of `view` needs, nearest first, up to the limit per picture. Calls `pause` between
    // batches of pages; it may throw, and the volume stays usable. Returns the number of needed and missing pages.
    PageCoverage bring_in(const View& view, const std::function<void()>& pause);

    // Loads pages for the picture of one of several panes without evicting pages of the other panes. `is_another`: the
    // view differs from the previous one. Returns a number that changes when a new picture of the pane is worthwhile.
    std::uint64_t bring_in_for(std::size_t pane, const View& view, bool is_another);

    // Loads pages for a view outside the panes, such as a probe. Pages of the panes have priority.
    void bring_in_beside_panes(const View& view);

  private:
    using Entry = std::array<std::uint8_t, 4>;  // slot along each axis, and 1 for the coarse level

    struct Fill {  // copies a page of a level to a slot
        Indices page;
        std::int64_t slot;
    };

    Entry entry_of(std::int64_t slot, bool is_coarse) const;
    void set_entry(std::int64_t page, const Entry& entry);
    // Points the page's table entry at the coarse level.
    void show_coarse(std::int64_t page);
    std::size_t max_at_once() const;  // pages that the staging buffer holds
    void bring_coarse(const PageSurvey& survey, const BrickBuilder& builder);
    void bring(const VoxelSource& level, const StoredCodes& storage, std::span<const Fill> fills);
    // Uploads the page table if it has changed.
    void bring_table();
    std::vector<std::int64_t> needed(const View& view) const;
    void fill_pool(std::span<const std::int64_t> pages, const std::function<void()>& pause = {});
    std::int64_t held(std::span<const std::int64_t> pages) const;

    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::shared_ptr<const VoxelSource> source_;
    std::int64_t pages_a_picture_;
    PageLayout layout_;
    VolumeTexture texture_;
    StoredCodes storage_;
    gpu::DeviceImage table_;
    gpu::HostBuffer staging_;  // room for several slots
    gpu::HostBuffer entries_;  // host copy of the page table
    bool table_is_old_ = true;
    std::uint64_t changes_ = 0;
    std::vector<ValueBounds> bounds_;  // of each page
    PagePool pool_;
    PageNeeds needs_;  // per pane
};

// Returns the limits of the device for pages of a volume of this type.
TextureRoom room_for_pages(const gpu::Device& device, const VolumeGrid& grid, const VolumeLimits& limits);

// ---- Selects the pages of a large volume that a picture needs: those inside the picture with visible values.

// Returns the range of texture values of each page and its surroundings. Interpolated values and gradients of visible
// voxels are then exact as soon as all pages with visible values are loaded. `bricks` are those of the survey, with
// edges of `brick_edge` voxels.
std::vector<ValueBounds> page_bounds(const PageLayout& layout, std::span<const ValueBounds> bricks, int brick_edge);

// Returns the numbers of the needed pages, nearest to the eye first. `view` must have been checked; `bounds` are the
// result of page_bounds().
std::vector<std::int64_t> pages_needed(const View& view, const VolumeTexture& volume, const PageLayout& layout,
                                       std::span<const ValueBounds> bounds);

}  // namespace echolux
