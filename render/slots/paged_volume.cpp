#include "render/slots/paged_volume.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <utility>
#include <vulkan/vulkan_format_traits.hpp>

#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "render/camera.h"
#include "render/slots/volume_texture.h"
#include "render/transfer_function.h"
#include "shaders/shared/raycast.h"

namespace echolux {
namespace {

// Max size of the staging buffer.
constexpr std::int64_t staging_bytes = 32 << 20;

gpu::ImageShape table_shape(const PageLayout& layout) {
    return {.type = vk::ImageType::e3D,
            .format = vk::Format::eR8G8B8A8Unorm,
            .extent = {static_cast<std::uint32_t>(layout.pages[0]), static_cast<std::uint32_t>(layout.pages[1]),
                       static_cast<std::uint32_t>(layout.pages[2])},
            .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst};
}

// Writes a page with its border in the layout of a slot. Beyond the faces of the level, the edge voxels are repeated.
void fill_slot(const VoxelSource& level, const StoredCodes& storage, const PageLayout& layout, const Indices& page,
               std::byte* slot) {
    const VolumeGrid& grid = level.grid();
    const Indices voxels{grid.depth, grid.a_scans, grid.b_scans};
    const Indices stored = layout.stored();
    VoxelBox box;
    Indices outside{};  // voxels between the slot's start and the box
    for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t begin = page[i] * layout.page[i] - page_border;
        box.first[i] = std::max<std::int64_t>(0, begin);
        box.extent[i] = std::min(voxels[i], begin + stored[i]) - box.first[i];
        outside[i] = box.first[i] - begin;
    }
    std::vector<std::byte> codes(index(box.voxels() * bytes_of(grid.type)));
    level.read(box, codes.data());
    const std::int64_t bytes = storage.bytes();
    for (std::int64_t z = 0; z < stored[2]; ++z) {
        const std::int64_t from_z = std::clamp<std::int64_t>(z - outside[2], 0, box.extent[2] - 1);
        for (std::int64_t y = 0; y < stored[1]; ++y, slot += stored[0] * bytes) {
            const std::int64_t from_y = std::clamp<std::int64_t>(y - outside[1], 0, box.extent[1] - 1);
            const std::int64_t row = (from_z * box.extent[1] + from_y) * box.extent[0];
            std::byte* first = slot + outside[0] * bytes;
            std::byte* end = first + box.extent[0] * bytes;
            storage.store(codes.data() + row * bytes_of(grid.type), box.extent[0], first);
            for (std::byte* to = slot; to < first; to += bytes) std::memcpy(to, first, index(bytes));
            for (std::byte* to = end; to < slot + stored[0] * bytes; to += bytes) {
                std::memcpy(to, end - bytes, index(bytes));
            }
        }
    }
}

vk::Extent3D slot_extent(const PageLayout& layout) {
    const Indices stored = layout.stored();
    return {static_cast<std::uint32_t>(stored[0]), static_cast<std::uint32_t>(stored[1]),
            static_cast<std::uint32_t>(stored[2])};
}

// First voxel of a slot in the pool's texture.
vk::Offset3D slot_offset(const PageLayout& layout, std::int64_t slot) {
    const Indices at = layout.slot_at(slot);
    const Indices stored = layout.stored();
    return {static_cast<std::int32_t>(at[0] * stored[0]), static_cast<std::int32_t>(at[1] * stored[1]),
            static_cast<std::int32_t>(at[2] * stored[2])};
}

std::size_t staging_for(const PageLayout& layout, const VolumeTexture& texture) {
    const std::int64_t slot = layout.slot_voxels() * texture.image().bytes_per_pixel();
    return index(std::clamp<std::int64_t>(staging_bytes / slot, 1, layout.slot_count()) * slot);
}

}  // namespace

TextureRoom room_for_pages(const gpu::Device& device, const VolumeGrid& grid, const VolumeLimits& limits) {
    const gpu::ImageShape shape = VolumeTexture::shape_for(device, grid);
    const gpu::ImageRoom room = gpu::room_for(device, shape);
    return {.edge = room.edge,
            .bytes = std::min(room.bytes, limits.pool_bytes),
            .bytes_per_voxel = vk::blockSize(shape.format)};
}

PagedVolume::PagedVolume(const gpu::Device& device, gpu::Queue& queue, const BrickBuilder& builder,
                         const VolumeLimits& limits, std::shared_ptr<const VoxelSource> source,
                         const std::optional<ValueRange>& chosen, const std::function<void(std::int64_t voxels)>& done)
    : device_(device), queue_(queue), source_(std::move(source)), pages_a_picture_(limits.pages_a_picture),
      layout_(page_layout(source_->grid(), room_for_pages(device, source_->grid(), limits), limits.page_edge)),
      texture_(device, source_->grid(), source_->range(), layout_), storage_(stored_codes(texture_)),
      table_(device, table_shape(layout_), "page table"),
      staging_(device, staging_for(layout_, texture_), vk::BufferUsageFlagBits::eTransferSrc),
      entries_(device, index(layout_.page_count()) * sizeof(Entry), vk::BufferUsageFlagBits::eTransferSrc),
      pool_(layout_.slot_count() - layout_.coarse_count()) {
    if (chosen) texture_.set_range(texture_.range(), *chosen);
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        texture_.record_first_use(commands);
        table_.record_first_use(commands);
    });
    const PageSurvey survey = surveyed(*source_, layout_, storage_, texture_.bricks().edge(), done);
    bounds_ = page_bounds(layout_, survey.bricks, texture_.bricks().edge());
    bring_coarse(survey, builder);
    for (std::int64_t page = 0; page < layout_.page_count(); ++page) show_coarse(page);
}

PagedVolume::Entry PagedVolume::entry_of(std::int64_t slot, bool is_coarse) const {
    const Indices at = layout_.slot_at(slot);
    const auto byte = [](std::int64_t number) { return static_cast<std::uint8_t>(number); };
    return {byte(at[0]), byte(at[1]), byte(at[2]), byte(is_coarse ? 1 : 0)};
}

void PagedVolume::set_entry(std::int64_t page, const Entry& entry) {
    std::memcpy(entries_.bytes().data() + page * std::int64_t{sizeof entry}, entry.data(), sizeof entry);
    table_is_old_ = true;
}

// The coarse pages occupy the first slots in order.
void PagedVolume::show_coarse(std::int64_t page) {
    set_entry(page, entry_of(layout_.coarse_page_of(layout_.page_at(page)), true));
}

std::vector<VoxelBox> PagedVolume::coarse_boxes() const {
    std::vector<VoxelBox> boxes;
    for (std::int64_t number = 0; number < layout_.coarse_count(); ++number) {
        const Indices page = layout_.coarse_page_at(number);
        const Indices slot = layout_.slot_at(number);
        VoxelBox& box = boxes.emplace_back();
        for (std::size_t i = 0; i < 3; ++i) {
            box.first[i] = slot[i] * layout_.stored()[i] + page_border;
            box.extent[i] = std::min(layout_.page[i], layout_.coarse_voxels[i] - page[i] * layout_.page[i]);
        }
    }
    return boxes;
}

void PagedVolume::bring_coarse(const PageSurvey& survey, const BrickBuilder& builder) {
    VolumeGrid grid = texture_.grid();
    const auto [depth, a_scans, b_scans] = layout_.coarse_voxels;
    grid.depth = depth;
    grid.a_scans = a_scans;
    grid.b_scans = b_scans;
    grid.type = storage_.type();
    std::vector<Fill> fills;
    for (std::int64_t page = 0; page < layout_.coarse_count(); ++page) {
        fills.push_back({layout_.coarse_page_at(page), page});
    }
    bring(*voxels_in_memory(grid, survey.coarse.data()), {grid, false, texture_.range()}, fills);
    const gpu::HostBuffer ranges(device_, survey.bricks.size() * sizeof(ValueBounds),
                                 vk::BufferUsageFlagBits::eTransferSrc);
    std::memcpy(ranges.bytes().data(), survey.bricks.data(), ranges.bytes().size());
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        builder.record_from(commands, texture_.bricks(), ranges.handle());
    });
}

std::size_t PagedVolume::max_at_once() const {
    return staging_.bytes().size() / index(layout_.slot_voxels() * storage_.bytes());
}

// Copies pages to slots in batches that fit into the staging buffer.
void PagedVolume::bring(const VoxelSource& level, const StoredCodes& storage, std::span<const Fill> fills) {
    const std::int64_t bytes = layout_.slot_voxels() * storage.bytes();
    while (!fills.empty()) {
        const std::span<const Fill> now = fills.first(std::min(max_at_once(), fills.size()));
        parallel_for(0, std::ssize(now), [&](std::int64_t i) {
            fill_slot(level, storage, layout_, now[index(i)].page, staging_.bytes().data() + i * bytes);
        });
        queue_.run([&](const vk::raii::CommandBuffer& commands) {
            for (std::size_t i = 0; i < now.size(); ++i) {
                texture_.image().record_box_from(commands, staging_.handle(), i * index(bytes),
                                                 slot_offset(layout_, now[i].slot), slot_extent(layout_));
            }
        });
        fills = fills.subspan(now.size());
    }
}

void PagedVolume::bring_table() {
    if (!table_is_old_) return;
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        table_.record_box_from(commands, entries_.handle(), 0, {}, table_.shape().extent);
    });
    table_is_old_ = false;
    ++changes_;
}

std::vector<std::int64_t> PagedVolume::needed(const View& view) const {
    return pages_needed(view, texture_, layout_, bounds_);
}

std::int64_t PagedVolume::held(std::span<const std::int64_t> pages) const {
    return std::ranges::count_if(pages, [&](std::int64_t page) { return pool_.holds(page); });
}

// Loads as many of `pages` as there are slots, the first ones first. Evicted pages are remapped to the coarse level
// before their slots are overwritten, so the table stays valid if `pause` or the source throws.
void PagedVolume::fill_pool(std::span<const std::int64_t> pages, const std::function<void()>& pause) {
    const PagePool::Plan plan = pool_.plan(pages);
    for (const std::int64_t page : plan.leaving) show_coarse(page);
    bring_table();  // from here on, the device references no slot that is about to be overwritten
    std::span<const PagePool::PageSlot> coming = plan.coming;
    coming = coming.first(index(std::min(pages_a_picture_, std::ssize(coming))));
    while (!coming.empty()) {
        if (pause) pause();
        const auto now = coming.first(std::min(max_at_once(), coming.size()));
        std::vector<Fill> fills;
        for (const auto& [page, slot] : now) fills.push_back({layout_.page_at(page), layout_.coarse_count() + slot});
        bring(*source_, storage_, fills);
        for (const PagePool::PageSlot& placement : now) {
            pool_.hold(placement);
            set_entry(placement.page, entry_of(layout_.coarse_count() + placement.slot, false));
        }
        coming = coming.subspan(now.size());
    }
    bring_table();
}

PageCoverage PagedVolume::bring_in(const View& view, const std::function<void()>& pause) {
    const std::vector<std::int64_t> pages = needed(view);
    fill_pool(pages, pause);
    return {std::ssize(pages), std::ssize(pages) - held(pages)};
}

std::uint64_t PagedVolume::bring_in_for(std::size_t pane, const View& view, bool is_another) {
    needs_.ask(pane);
    if (is_another || !needs_.has(pane)) needs_.set(pane, needed(view));
    const std::vector<std::int64_t>& pages = needs_.of(pane);
    if (held(pages) < std::ssize(pages)) fill_pool(needs_.together());
    return needs_.note_held(pane, held(pages));
}

void PagedVolume::bring_in_beside_panes(const View& view) {
    fill_pool(needs_.together(needed(view)));
}

// ---- Page need

namespace {

// Margin around a page, in bricks. The brick that starts a run of samples also covers its neighbours up to two bricks
// away, and the run continues for another half brick. Gradients reach less far.
constexpr std::int64_t bricks_around = 3;

// Margin around a page for the visibility test, in voxels. Gradients of voxels at the edge of the picture read pages
// just outside it.
constexpr double voxels_around = 8;

// Tests whether a range of texture values contains visible ones.
class Visibility {
  public:
    Visibility(const View& view, const VolumeTexture& volume)
        : seen_(text_of(view.mode).seen), has_isosurface_(view.mode == ViewMode::traced && view.isosurface),
          all_(!view.skip_empty), function_(transfer_function(view, volume.grid(), volume.range(view.range))),
          isovalue_(isovalue_of(view, function_)), scale_(volume.scale()), offset_(volume.offset()), seen_before_{0} {
        // Counts visible table entries, so that a range is tested with one subtraction.
        const TransferTable table = transfer_table(function_, shared::transfer_entries);
        for (const float extinction : table.extinctions) {
            seen_before_.push_back(seen_before_.back() + (extinction > 0 ? 1 : 0));
        }
    }

    bool operator()(const ValueBounds& bounds) const {
        if (all_) return true;
        const double min_value = bounds.min * scale_ + offset_;
        const double max_value = bounds.max * scale_ + offset_;
        const auto [low, high] = function_.range;
        if (has_isosurface_ && max_value >= isovalue_) return true;
        switch (seen_) {
            case VisibleValues::with_extinction:
                return seen_before_[entry(max_value) + 1] > seen_before_[entry(min_value)];
            case VisibleValues::from_isovalue: return max_value >= isovalue_;
            case VisibleValues::above_low: return max_value > low;
            case VisibleValues::below_high: return min_value < high;
            case VisibleValues::all: break;
        }
        return true;
    }

  private:
    // Rounds to a table entry as the ray caster does.
    std::size_t entry(double value) const {
        constexpr double last = shared::transfer_entries - 1;
        const auto [low, high] = function_.range;
        return static_cast<std::size_t>(std::clamp((value - low) / (high - low) * last, 0.0, last) + 0.5);
    }

    VisibleValues seen_;
    bool has_isosurface_;  // in addition, among traced samples
    bool all_;             // true: rays also enter empty regions
    TransferFunction function_;
    double isovalue_, scale_, offset_;
    std::vector<int> seen_before_;  // number of visible table entries before each one
};

// Position of pages relative to the camera and the picture.
class Sight {
  public:
    Sight(const View& view, const VolumeGrid& grid)
        : camera_(view, volume_extent(grid)),
          half_(0.5 * static_cast<double>(view.width), 0.5 * static_cast<double>(view.height)) {
        const auto edges = voxel_edges(grid);
        edge_ = {edges[0], edges[1], edges[2]};
        middle_ = 0.5 * glm::dvec3(grid.depth, grid.a_scans, grid.b_scans);
    }

    // Distance along the viewing direction; negative behind the eye.
    double distance_to(const glm::dvec3& place) const { return camera_.depth_of(place); }

    glm::dvec3 middle_of(const VoxelBox& box) const { return at(box, glm::dvec3(0.5), 0); }

    // Tests the bounding box of the projected corners.
    bool shows(const VoxelBox& box) const {
        glm::dvec2 min_pixel(INFINITY);
        glm::dvec2 max_pixel(-INFINITY);
        for (int corner = 0; corner < 8; ++corner) {
            const glm::dvec3 place = at(box, glm::dvec3(corner & 1, corner >> 1 & 1, corner >> 2), voxels_around);
            if (distance_to(place) <= 0) return true;  // reaches behind the eye, cannot be projected
            const glm::dvec2 pixel = camera_.project(place);
            min_pixel = glm::min(min_pixel, pixel);
            max_pixel = glm::max(max_pixel, pixel);
        }
        return min_pixel.x <= half_.x && min_pixel.y <= half_.y && max_pixel.x >= -half_.x && max_pixel.y >= -half_.y;
    }

  private:
    // Returns the point at fraction `part` between the first and the last corner of a box that is grown by `around`
    // voxels on each side, in um from the centre of the volume.
    glm::dvec3 at(const VoxelBox& box, const glm::dvec3& part, double around) const {
        const glm::dvec3 first(box.first[0], box.first[1], box.first[2]);
        const glm::dvec3 extent(box.extent[0], box.extent[1], box.extent[2]);
        return (first - around + part * (extent + 2 * around) - middle_) * edge_;
    }

    Camera camera_;
    glm::dvec2 half_;
    glm::dvec3 edge_, middle_;
};

ValueBounds joined(const ValueBounds& a, const ValueBounds& b) {
    return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

}  // namespace

std::vector<ValueBounds> page_bounds(const PageLayout& layout, std::span<const ValueBounds> bricks, int brick_edge) {
    Indices count{};
    for (std::size_t i = 0; i < 3; ++i) count[i] = (layout.voxels[i] + brick_edge - 1) / brick_edge;
    std::vector<ValueBounds> bounds;
    for (std::int64_t number = 0; number < layout.page_count(); ++number) {
        const VoxelBox box = layout.box_of(layout.page_at(number));
        Indices first{};
        Indices end{};
        for (std::size_t i = 0; i < 3; ++i) {
            first[i] = std::max<std::int64_t>(0, box.first[i] / brick_edge - bricks_around);
            end[i] = std::min(count[i], (box.first[i] + box.extent[i] - 1) / brick_edge + 1 + bricks_around);
        }
        ValueBounds all{INFINITY, -INFINITY};
        for (std::int64_t z = first[2]; z < end[2]; ++z) {
            for (std::int64_t y = first[1]; y < end[1]; ++y) {
                const std::int64_t row = (z * count[1] + y) * count[0];
                for (std::int64_t x = first[0]; x < end[0]; ++x) {
                    all = joined(all, bricks[index(row + x)]);
                }
            }
        }
        bounds.push_back(all);
    }
    return bounds;
}

std::vector<std::int64_t> pages_needed(const View& view, const VolumeTexture& volume, const PageLayout& layout,
                                       std::span<const ValueBounds> bounds) {
    struct Page {
        double distance;
        std::int64_t number;
    };
    const Visibility is_seen(view, volume);
    const Sight sight(view, volume.grid());
    std::vector<Page> pages;
    for (std::int64_t number = 0; number < layout.page_count(); ++number) {
        if (!is_seen(bounds[index(number)])) continue;
        const VoxelBox box = layout.box_of(layout.page_at(number));
        if (sight.shows(box)) pages.push_back({sight.distance_to(sight.middle_of(box)), number});
    }
    std::ranges::stable_sort(pages, {}, &Page::distance);
    std::vector<std::int64_t> numbers;
    for (const Page& page : pages) numbers.push_back(page.number);
    return numbers;
}

}  // namespace echolux
