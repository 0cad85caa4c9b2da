#include "render/slots/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plural.h"

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
        refuse(grid, fmt::format("at most {} along an axis", plural(room.edge * page_edge, "voxels")));
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
                             plural(layout.reduction, "times"),
                             static_cast<double>(coarse_share * layout.coarse_count() * layout.slot_voxels() *
                                                 room.bytes_per_voxel) /
                                 mib,
                             static_cast<double>(room.bytes) / mib));
}

// ---- Page survey

namespace {

constexpr std::int64_t batch = 64;  // pages between calls of `done`

// A grid of cubes of 2^shift voxels over a part of a volume.
struct Cells {
    int shift;
    Indices count;

    Cells(const Indices& voxels, std::int64_t edge) : shift(std::countr_zero(static_cast<std::uint64_t>(edge))) {
        for (std::size_t i = 0; i < 3; ++i) count[i] = (voxels[i] + edge - 1) >> shift;
    }

    std::size_t size() const { return index(count[0] * count[1] * count[2]); }
    // Returns the number of the first cell of the row that contains the voxels at (y, z).
    std::int64_t row(std::int64_t y, std::int64_t z) const {
        return ((z >> shift) * count[1] + (y >> shift)) * count[0];
    }
};

// Reads a box as texture values, rounded exactly as the texture stores them.
std::vector<float> texture_values(const VoxelSource& source, const StoredCodes& storage, const VoxelBox& box) {
    std::vector<std::byte> codes(index(box.voxels() * bytes_of(source.grid().type)));
    source.read(box, codes.data());
    std::vector<std::byte> stored(index(box.voxels() * storage.bytes()));
    storage.store(codes.data(), box.voxels(), stored.data());
    std::vector<float> values(index(box.voxels()));
    storage.to_texture_values(stored.data(), box.voxels(), values.data());
    return values;
}

std::vector<ValueBounds> bounds_of(const std::vector<float>& values, const Indices& voxels, const Cells& cells) {
    constexpr float highest = std::numeric_limits<float>::max();
    std::vector<ValueBounds> bounds(cells.size(), {highest, -highest});
    const float* row = values.data();
    for (std::int64_t z = 0; z < voxels[2]; ++z) {
        for (std::int64_t y = 0; y < voxels[1]; ++y, row += voxels[0]) {
            ValueBounds* cell = bounds.data() + cells.row(y, z);
            for (std::int64_t x = 0; x < voxels[0]; ++x) {
                ValueBounds& here = cell[x >> cells.shift];
                here = {std::min(here.min, row[x]), std::max(here.max, row[x])};
            }
        }
    }
    return bounds;
}

std::vector<float> means_of(const std::vector<float>& values, const Indices& voxels, const Cells& cells) {
    std::vector<double> sums(cells.size());
    std::vector<std::int64_t> counts(cells.size());
    const float* row = values.data();
    for (std::int64_t z = 0; z < voxels[2]; ++z) {
        for (std::int64_t y = 0; y < voxels[1]; ++y, row += voxels[0]) {
            const std::int64_t cell = cells.row(y, z);
            for (std::int64_t x = 0; x < voxels[0]; ++x) {
                const auto at = index(cell + (x >> cells.shift));
                sums[at] += row[x];
                ++counts[at];
            }
        }
    }
    std::vector<float> means;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        means.push_back(static_cast<float>(sums[i] / static_cast<double>(counts[i])));
    }
    return means;
}

// Calls put(from, to, count) for each row of a page's cells: `from` counts within the page, `to` within the volume.
template <class Put>
void each_row(const Cells& page, const Cells& volume, const Indices& first, const Put& put) {
    for (std::int64_t z = 0; z < page.count[2]; ++z) {
        for (std::int64_t y = 0; y < page.count[1]; ++y) {
            const std::int64_t to = volume.row(first[1] + (y << page.shift), first[2] + (z << page.shift));
            put((z * page.count[1] + y) * page.count[0], to + (first[0] >> page.shift), page.count[0]);
        }
    }
}

}  // namespace

PageSurvey surveyed(const VoxelSource& source, const PageLayout& layout, const StoredCodes& storage, int brick_edge,
                    const std::function<void(std::int64_t voxels)>& done) {
    const Cells boxes(layout.voxels, layout.reduction);
    const Cells bricks(layout.voxels, brick_edge);
    PageSurvey survey;
    survey.coarse.resize(boxes.size() * index(storage.bytes()));
    survey.bricks.resize(bricks.size());
    const auto survey_page = [&](std::int64_t number) {
        const VoxelBox box = layout.box_of(layout.page_at(number));
        const std::vector<float> values = texture_values(source, storage, box);
        const Cells page_bricks(box.extent, brick_edge);
        const std::vector<ValueBounds> bounds = bounds_of(values, box.extent, page_bricks);
        each_row(page_bricks, bricks, box.first, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            std::copy_n(bounds.begin() + from, count, survey.bricks.begin() + to);
        });
        const Cells page_boxes(box.extent, layout.reduction);
        const std::vector<float> means = means_of(values, box.extent, page_boxes);
        each_row(page_boxes, boxes, box.first, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            storage.from_texture_values(means.data() + from, count, survey.coarse.data() + to * storage.bytes());
        });
    };
    for (std::int64_t first = 0; first < layout.page_count(); first += batch) {
        const std::int64_t end = std::min(first + batch, layout.page_count());
        parallel_for(first, end, survey_page);
        std::int64_t voxels = 0;
        for (std::int64_t page = first; page < end; ++page) voxels += layout.box_of(layout.page_at(page)).voxels();
        if (done) done(voxels);
    }
    return survey;
}

// ---- Page pool

PagePool::Plan PagePool::plan(std::span<const std::int64_t> needed) {
    ++picture_;
    needed = needed.first(std::min(needed.size(), slots_.size()));
    Plan plan;
    for (const std::int64_t page : needed) {
        const auto found = slot_of_.find(page);
        if (found == slot_of_.end()) {
            plan.coming.push_back({page, -1});
        } else {
            slots_[index(found->second)].used = picture_;
        }
    }
    // Empty slots first, then those unused for longest. Slots of this picture are last.
    std::vector<std::int64_t> oldest(slots_.size());
    std::iota(oldest.begin(), oldest.end(), 0);
    std::ranges::stable_sort(oldest, {}, [&](std::int64_t i) {
        const Slot& slot = slots_[index(i)];
        return slot.page < 0 ? -1 : slot.used;
    });
    for (std::size_t i = 0; i < plan.coming.size(); ++i) {
        plan.coming[i].slot = oldest[i];
        Slot& slot = slots_[index(oldest[i])];
        if (slot.page < 0) continue;
        plan.leaving.push_back(slot.page);
        slot_of_.erase(slot.page);
        slot = {};
    }
    return plan;
}

void PagePool::hold(const PageSlot& placement) {
    slots_[index(placement.slot)] = {placement.page, picture_};
    slot_of_[placement.page] = placement.slot;
}

// ---- Page needs

void PageNeeds::ask(std::size_t pane) {
    const auto found = needs_.find(pane);
    if (found == needs_.end()) return;
    std::erase_if(needs_, [last = found->second.asked](const auto& other) { return other.second.asked < last; });
    found->second.asked = ++asked_;
}

void PageNeeds::set(std::size_t pane, std::vector<std::int64_t> pages) {
    Need& need = needs_[pane];
    need.pages = std::move(pages);
    need.asked = ++asked_;
    need.max_held = 0;
}

std::vector<std::int64_t> PageNeeds::together(std::span<const std::int64_t> others) const {
    std::vector<std::span<const std::int64_t>> lists;
    for (const auto& [pane, need] : needs_) lists.emplace_back(need.pages);
    std::ranges::stable_sort(lists, {}, &std::span<const std::int64_t>::size);
    lists.push_back(others);
    std::vector<std::int64_t> all;
    std::unordered_set<std::int64_t> taken;
    for (const std::span<const std::int64_t> list : lists) {
        std::ranges::copy_if(list, std::back_inserter(all),
                             [&](std::int64_t page) { return taken.insert(page).second; });
    }
    return all;
}

std::uint64_t PageNeeds::note_held(std::size_t pane, std::int64_t pages) {
    Need& need = needs_[pane];
    if (pages > need.max_held) {
        need.max_held = pages;
        ++need.gains;
    }
    return need.gains;
}

}  // namespace echolux
