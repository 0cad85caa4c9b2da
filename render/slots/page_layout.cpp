#include "render/slots/page_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {
namespace {

constexpr std::int64_t max_slots = 255;       // per axis: the page table stores each index in eight bits
constexpr std::int64_t coarse_share = 8;      // the coarse level gets 1 / coarse_share of the pool
constexpr std::int64_t max_bricks = 1 << 24;  // limits the memory for bricks
constexpr double mib = 1024.0 * 1024.0;

// Rounds up.
std::int64_t divided(std::int64_t length, std::int64_t by) {
    return (length + by - 1) / by;
}

Indices divided(const Indices& lengths, const Indices& by) {
    return {divided(lengths[0], by[0]), divided(lengths[1], by[1]), divided(lengths[2], by[2])};
}

std::int64_t product(const Indices& lengths) {
    return lengths[0] * lengths[1] * lengths[2];
}

// Converts a number, first axis fastest, to a position in a grid of `of` cells.
Indices place_of(std::int64_t number, const Indices& of) {
    return {number % of[0], number / of[0] % of[1], number / (of[0] * of[1])};
}

// Throws Error{out_of_memory} with the volume's size.
[[noreturn]] void refuse(const VolumeGrid& grid, const std::string& why) {
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("the volume of {} x {} x {} voxels (depth x A-scans x B-scans) is too large even in pages: {}",
                    grid.depth, grid.a_scans, grid.b_scans, why),
        "renderer", "crop it, or choose a device with more memory");
}

// Returns the slots along each axis: the smallest product of at least `wanted`, or the largest possible one if `wanted`
// is out of reach. Never more than `max_count` slots.
Indices arranged(std::int64_t wanted, std::int64_t max_count, const Indices& max_along) {
    Indices best{0, 0, 0};
    const auto is_better = [&](std::int64_t count) {
        const std::int64_t now = product(best);
        return now < wanted ? count > now : count >= wanted && count < now;
    };
    for (std::int64_t x = 1; x <= max_along[0]; ++x) {
        for (std::int64_t y = 1; y <= max_along[1]; ++y) {
            for (const std::int64_t z : {wanted / (x * y), divided(wanted, x * y)}) {
                const Indices slots{x, y, std::clamp<std::int64_t>(z, 1, max_along[2])};
                if (product(slots) <= max_count && is_better(product(slots))) best = slots;
            }
        }
    }
    return best;
}

// Returns the smallest brick edge that keeps the brick count and the edges of the brick texture within limits.
int brick_edge_for(const PageLayout& layout, std::int64_t max_along, std::int64_t page_edge) {
    const auto fits = [&](std::int64_t edge) {
        const Indices bricks = divided(layout.voxels, {edge, edge, edge});
        return product(bricks) <= max_bricks && std::ranges::max(bricks) <= max_along;
    };
    std::int64_t edge = 4;
    while (edge < page_edge && !fits(edge)) edge *= 2;
    return static_cast<int>(edge);
}

void set_reduction(PageLayout& layout, std::int64_t reduction) {
    layout.reduction = reduction;
    layout.coarse_voxels = divided(layout.voxels, {reduction, reduction, reduction});
    layout.coarse_pages = divided(layout.coarse_voxels, layout.page);
}

}  // namespace

Indices PageLayout::stored() const {
    Indices edges{};
    for (std::size_t i = 0; i < 3; ++i) edges[i] = std::min(page[i], voxels[i]) + 2 * page_border;
    return edges;
    // A volume smaller than a page needs only its own extent.
}

std::int64_t PageLayout::slot_voxels() const {
    return product(stored());
}

Indices PageLayout::page_at(std::int64_t number) const {
    return place_of(number, pages);
}

Indices PageLayout::coarse_page_at(std::int64_t number) const {
    return place_of(number, coarse_pages);
}

Indices PageLayout::slot_at(std::int64_t number) const {
    return place_of(number, slots);
}

std::int64_t PageLayout::coarse_page_of(const Indices& page_place) const {
    const auto [x, y, z] = page_place;
    return (z / reduction * coarse_pages[1] + y / reduction) * coarse_pages[0] + x / reduction;
}

VoxelBox PageLayout::box_of(const Indices& page_place) const {
    VoxelBox box;
    for (std::size_t i = 0; i < 3; ++i) {
        box.first[i] = page_place[i] * page[i];
        box.extent[i] = std::min(page[i], voxels[i] - box.first[i]);
    }
    return box;
}

PageLayout page_layout(const VolumeGrid& grid, const TextureRoom& room, std::int64_t page_edge) {
    PageLayout layout;
    layout.voxels = {grid.depth, grid.a_scans, grid.b_scans};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto edge = std::bit_ceil(static_cast<std::uint64_t>(layout.voxels[i]));
        layout.page[i] = std::min(page_edge, static_cast<std::int64_t>(edge));
    }
    layout.pages = divided(layout.voxels, layout.page);
    if (std::ranges::max(layout.pages) > room.edge) {
        refuse(grid, fmt::format("at most {} along an axis", counted(room.edge * page_edge, "voxels")));
    }
    layout.brick_edge = brick_edge_for(layout, room.edge, page_edge);
    Indices max_along{};
    for (std::size_t i = 0; i < 3; ++i) max_along[i] = std::min(max_slots, room.edge / layout.stored()[i]);
    const std::int64_t max_count = room.bytes / (layout.slot_voxels() * room.bytes_per_voxel);
    const std::int64_t for_coarse = std::max<std::int64_t>(1, std::min(max_count, layout.page_count()) / coarse_share);
    // A coarse box must not cross pages, which limits the reduction to the page edge.
    for (std::int64_t reduction = 2; reduction <= page_edge; reduction *= 2) {
        set_reduction(layout, reduction);
        if (layout.coarse_count() > for_coarse) continue;
        layout.slots = arranged(std::min(max_count, layout.page_count() + layout.coarse_count()), max_count, max_along);
        if (layout.slot_count() >= layout.coarse_count()) return layout;
    }
    refuse(grid, fmt::format("reduced {} along each axis it needs {:.1f} MiB, {:.1f} MiB are available",
                             counted(layout.reduction, "times"),
                             static_cast<double>(coarse_share * layout.coarse_count() * layout.slot_voxels() *
                                                 room.bytes_per_voxel) /
                                 mib,
                             static_cast<double>(room.bytes) / mib));
}

}  // namespace echolux
