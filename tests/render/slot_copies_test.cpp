// Copies of live volumes to the host while pictures are drawn.
#include <functional>
#include <thread>
#include <utility>

#include "slots_fixture.h"

namespace echolux::test {
namespace {

class SlotCopies : public Slots {};

// The copy is requested before the volume is written, and the caller does not wait.
TEST_F(SlotCopies, BeginWithoutWaiting) {
    for (const VoxelType type : {VoxelType::u8, VoxelType::f32}) {
        make(small_grid(type));
        written_ = read_ = 0;
        const std::vector<std::byte> voxels = noise_voxels(grid_, 1);
        DisplayedSlots early = whole(0, 1);
        early.wait = 1;
        const auto codes = renderer().copy_slot(early);
        write(0, voxels);
        EXPECT_EQ(codes(), voxels);
    }
}

// Each copy has separate memory until it is released, for any thread and order.
TEST_F(SlotCopies, AreReadInAnyOrderOnAnyThread) {
    make(small_grid(VoxelType::u16), 6);
    std::vector<std::vector<std::byte>> voxels;
    std::vector<std::function<std::vector<std::byte>()>> copies;
    for (std::size_t i = 0; i < 6; ++i) {
        voxels.push_back(noise_voxels(grid_, static_cast<int>(i)));
        write(i, voxels.back());
        copies.push_back(renderer().copy_slot(whole(i, i + 1)));
        if (i % 3 == 2) picture(whole(i, i + 1), small_view());  // also uses the memory of later copies
    }
    copies[4] = {};  // released without being read
    std::vector<std::vector<std::byte>> taken(copies.size());
    {
        std::vector<std::jthread> takers;
        for (std::size_t i = copies.size(); i-- > 0;) {
            if (copies[i]) takers.emplace_back([&, i] { taken[i] = std::exchange(copies[i], {})(); });
        }
    }
    for (const std::size_t i : {0, 1, 2, 3, 5}) EXPECT_EQ(taken[i], voxels[i]) << i;
    EXPECT_EQ(renderer().read_slot(whole(5, 6)), voxels[5]);
    EXPECT_EQ(renderer().bytes_read_back(), 2 * 72 * 56 * 4 + 7 * 2 * grid_.voxels());
}

}  // namespace
}  // namespace echolux::test
