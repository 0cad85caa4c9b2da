// The parts of paged volumes, each by itself: division into pages, replacement in the pool, priority of pages when
// panes share a pool, the coarse level, and storage of codes.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "render/slots/paged_volume.h"
#include "render/slots/pages.h"
#include "rendering.h"

namespace echolux::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr TextureRoom roomy{.edge = 4096, .bytes = std::int64_t{1} << 40, .bytes_per_voxel = 2};

TEST(PageLayout, HoldsEveryVoxelOnce) {
    const PageLayout layout = page_layout(db_grid(160, 200, 180), roomy, 32);
    EXPECT_THAT(layout.pages, ElementsAre(5, 7, 6));
    EXPECT_THAT(layout.stored(), ElementsAre(34, 34, 34));
    std::int64_t all = 0;
    for (std::int64_t i = 0; i < layout.page_count(); ++i) all += layout.box_of(layout.page_at(i)).voxels();
    EXPECT_EQ(all, 160 * 200 * 180);
    EXPECT_GE(layout.slot_count(), layout.page_count() + layout.coarse_count());
}

TEST(PageLayout, StaysWithinBudget) {
    for (std::int64_t slots = 1; slots < 300; ++slots) {
        TextureRoom room = roomy;
        room.bytes = slots * 34 * 34 * 34 * 2;
        const PageLayout layout = page_layout(db_grid(160, 200, 180), room, 32);
        EXPECT_LE(layout.slot_count(), slots);
        EXPECT_GE(layout.slot_count(), layout.coarse_count());
        EXPECT_GT(layout.slot_count(), 0.9 * static_cast<double>(std::min(slots, 210L)) - 1);
        EXPECT_LE(layout.coarse_count(), std::max<std::int64_t>(1, slots / 8));
    }
}

TEST(PageLayout, ThinVolumesHaveThinPages) {
    const PageLayout layout = page_layout(db_grid(1, 3, 100000), roomy, 64);
    EXPECT_THAT(layout.stored(), ElementsAre(3, 5, 66));
    EXPECT_THAT(layout.pages, ElementsAre(1, 1, 1563));
}

TEST(PagePool, KeepsNeededPagesAndDropsOldest) {
    PagePool pool(3);
    const auto hold_all = [&](std::initializer_list<std::int64_t> pages) {
        const PagePool::Plan plan = pool.plan(std::vector(pages));
        for (const auto& placement : plan.coming) pool.hold(placement);
        return plan;
    };
    EXPECT_EQ(hold_all({10, 11, 12}).coming.size(), 3U);
    EXPECT_THAT(hold_all({12, 11}).coming, IsEmpty());
    EXPECT_THAT(hold_all({13}).leaving, ElementsAre(10));  // not needed for the longest time
    const PagePool::Plan more = hold_all({14, 11, 15, 16, 17});
    EXPECT_EQ(more.coming.size(), 2U);  // the first three, one of which is already present
    EXPECT_TRUE(pool.holds(14) && pool.holds(11) && pool.holds(15));
    EXPECT_FALSE(pool.holds(12) || pool.holds(13) || pool.holds(16));
}

// Pages that were planned but not held are not present.
TEST(PagePool, AbandonedPlanLeavesSlotsFree) {
    PagePool pool(2);
    for (const auto& placement : pool.plan(std::vector<std::int64_t>{1, 2}).coming) pool.hold(placement);
    pool.plan(std::vector<std::int64_t>{3, 4});
    EXPECT_FALSE(pool.holds(1) || pool.holds(3));
    EXPECT_THAT(pool.plan(std::vector<std::int64_t>{5, 6}).leaving, IsEmpty());
}

// Compares means and ranges with those computed voxel by voxel.
TEST(PageSurvey, ComputesMeanAndRangeOfEachBox) {
    const VolumeGrid grid = db_grid(37, 50, 41);
    const auto value = [](std::int64_t z, std::int64_t a, std::int64_t b) { return noise(z, a, b); };
    const std::vector<std::byte> codes = voxels(grid, value);
    PageLayout layout = page_layout(grid, {.edge = 64, .bytes = 8 * 18 * 18 * 18 * 4, .bytes_per_voxel = 4}, 16);
    ASSERT_EQ(layout.reduction, 4);
    const PageSurvey survey =
        surveyed(*voxels_in_memory(grid, codes.data()), layout, StoredCodes(grid, false, {}), 4, {});
    std::size_t cell = 0;
    for (std::int64_t b = 0; b < grid.b_scans; b += 4) {
        for (std::int64_t a = 0; a < grid.a_scans; a += 4) {
            for (std::int64_t z = 0; z < grid.depth; z += 4, ++cell) {
                std::vector<double> inside;
                for (std::int64_t i = 0; i < 64; ++i) {
                    const std::int64_t at[]{z + i % 4, a + i / 4 % 4, b + i / 16};
                    if (at[0] >= grid.depth || at[1] >= grid.a_scans || at[2] >= grid.b_scans) continue;
                    inside.push_back(value(at[0], at[1], at[2]));
                }
                float mean = 0;
                std::memcpy(&mean, survey.coarse.data() + 4 * cell, 4);
                EXPECT_NEAR(mean, std::accumulate(inside.begin(), inside.end(), 0.0) / std::ssize(inside), 1e-6);
                EXPECT_NEAR(survey.bricks[cell].min, std::ranges::min(inside), 1e-7);
                EXPECT_NEAR(survey.bricks[cell].max, std::ranges::max(inside), 1e-7);
            }
        }
    }
    EXPECT_EQ(cell, survey.bricks.size());
    EXPECT_EQ(4 * cell, survey.coarse.size());
}

TEST(PageNeeds, OrdersShortListsFirstWithoutDuplicates) {
    PageNeeds needs;
    needs.set(0, {9, 8, 7, 6, 5});
    needs.set(1, {7, 3});
    needs.set(2, {1, 9, 2});
    EXPECT_THAT(needs.together(), ElementsAre(7, 3, 1, 9, 2, 8, 6, 5));
    const std::vector<std::int64_t> others{4, 3};
    EXPECT_THAT(needs.together(others), ElementsAre(7, 3, 1, 9, 2, 8, 6, 5, 4));
}

TEST(PageNeeds, ForgetsUnusedPanes) {
    PageNeeds needs;
    for (int frame = 0; frame < 3; ++frame) {
        for (const std::size_t pane : {0U, 1U, 2U}) {
            needs.ask(pane);
            if (!needs.has(pane)) needs.set(pane, {static_cast<std::int64_t>(pane)});
        }
        EXPECT_THAT(needs.together(), ElementsAre(0, 1, 2));
    }
    needs.ask(1);
    EXPECT_FALSE(needs.has(0));
    EXPECT_THAT(needs.together(), ElementsAre(1, 2));
    EXPECT_THAT(needs.of(2), ElementsAre(2));
}

TEST(PageNeeds, RedrawsPictureWhenMorePagesArrive) {
    PageNeeds needs;
    needs.set(0, {1, 2, 3, 4});
    const std::uint64_t first = needs.note_held(0, 2);
    EXPECT_EQ(needs.note_held(0, 1), first);
    EXPECT_EQ(needs.note_held(0, 2), first);
    const std::uint64_t better = needs.note_held(0, 3);
    EXPECT_NE(better, first);
    needs.set(0, {1, 2, 3, 5});  // another picture
    const std::uint64_t other = needs.note_held(0, 1);
    EXPECT_NE(needs.note_held(0, 2), other);
}

TEST(StoredCodes, RoundTrip) {
    for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::i16, VoxelType::f16}) {
        VolumeGrid grid = db_grid(1, 1, 1, type);
        const StoredCodes storage(grid, type == VoxelType::u8, {});
        for (int code = 0; code < (type == VoxelType::u8 ? 256 : 65536); ++code) {
            if (type == VoxelType::f16 && (code & 0x7C00) == 0x7C00) continue;  // not finite
            const auto bits = static_cast<std::uint16_t>(code);
            std::array<std::byte, 2> codes{}, stored{}, again{};
            std::memcpy(codes.data(), &bits, 2);
            storage.store(codes.data(), 1, stored.data());
            float value = 0;
            storage.to_texture_values(stored.data(), 1, &value);
            storage.from_texture_values(&value, 1, again.data());
            ASSERT_EQ(stored, again) << code;
        }
    }
}

}  // namespace
}  // namespace echolux::test
