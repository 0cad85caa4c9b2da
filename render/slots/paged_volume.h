// A volume too large for one texture: a pool of pages that follows what pictures need, and the coarse level behind it.
// See page_layout.h. What the shader samples is the texture of the pool, by way of a table with one entry a page:
// which slot, and whether that holds the page itself or its place in the coarse level.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "render/device_choice.h"
#include "render/picture.h"
#include "render/slots/page_layout.h"
#include "render/slots/page_needs.h"
#include "render/slots/page_pool.h"
#include "render/slots/page_survey.h"
#include "render/slots/volume_texture.h"
#include "render/slots/voxel_codes.h"
#include "render/slots/voxel_source.h"
#include "render/view/view.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"

namespace echolux {

class PagedVolume {
  public:
    // Reads all voxels once and brings the coarse level to the device. `chosen` is the range of the first volume of a
    // series, where this is a later one. `done` hears how many more were read, and may throw to stop. Throws
    // Error{bad_setting, out_of_memory} and what the source throws.
    PagedVolume(const gpu::Device& device, gpu::Queue& queue, const BrickBuilder& builder, const VolumeLimits& limits,
                std::shared_ptr<const VoxelSource> source, const std::optional<ValueRange>& chosen,
                const std::function<void(std::int64_t voxels)>& done);

    const PageLayout& layout() const { return layout_; }
    const VolumeTexture& texture() const { return texture_; }  // the pool's
    const gpu::DeviceImage& table() const { return table_; }

    // Of that texture, where the whole coarse level lies, without borders.
    std::vector<VoxelBox> coarse_boxes() const;

    std::uint64_t changes() const { return changes_; }  // of what the pool holds, so far

    // Fills the pool with what a picture of `view` needs, nearest first, as far as it goes. Between batches of pages it
    // calls `pause`, which may throw: the volume stays as usable as it was.
    PagesShown bring_in(const View& view, const std::function<void()>& pause);

    // The same for a picture beside others, in a pane of a window: what panes need leaves for none of them.
    // `is_another`: than it was last. Returns a number that changes when the picture is better made again.
    std::uint64_t bring_in_for(std::size_t pane, const View& view, bool is_another);

    // The same for a look at what panes show: they lose nothing by it.
    void bring_in_beside_panes(const View& view);

  private:
    using Entry = std::array<std::uint8_t, 4>;  // slot along each axis, whether it holds the coarse level

    struct Fill {  // a page of a level into a slot
        Indices page;
        std::int64_t slot;
    };

    Entry entry_of(std::int64_t slot, bool is_coarse) const;
    void set_entry(std::int64_t page, const Entry& entry);
    void show_coarse(std::int64_t page);
    std::size_t max_at_once() const;  // pages that the staging buffer holds
    void bring_coarse(const PageSurvey& survey, const BrickBuilder& builder);
    void bring(const VoxelSource& level, const StoredCodes& storage, std::span<const Fill> fills);
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
    gpu::HostBuffer staging_;  // some slots
    gpu::HostBuffer entries_;  // the table as the host knows it
    bool table_is_old_ = true;
    std::uint64_t changes_ = 0;
    std::vector<ValueBounds> bounds_;  // of each page
    PagePool pool_;
    PageNeeds needs_;  // of panes
};

// What the device has for the pages of a volume of these codes.
TextureRoom room_for_pages(const gpu::Device& device, const VolumeGrid& grid, const VolumeLimits& limits);

}  // namespace echolux
