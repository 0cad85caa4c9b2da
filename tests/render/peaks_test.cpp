// The bricks of a live volume are built from the peaks that accompany the voxels. Pictures have the same bits as when a
// shader searches for the largest voxels, complete and slice by slice, and no voxel is read for it.
#include "slots_fixture.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

class PeakSlots : public Slots {
  protected:
    void make_with(bool peaks, const VolumeGrid& grid) {
        make(grid, 3, peaks);
        written_ = read_ = 0;
    }

    std::vector<std::vector<std::uint8_t>> pictures(const DisplayedSlots& what, View view,
                                                    std::span<const ViewMode> modes = all_modes) {
        std::vector<std::vector<std::uint8_t>> all;
        for (const ViewMode mode : modes) {
            view.mode = mode;
            DisplayedSlots next = what;
            next.signal = ++read_;
            all.push_back(picture(next, view).pixels);
        }
        return all;
    }
};

// Points far apart: most bricks are only affected through their neighbours.
ValueAt points(int seed) {
    return [=](std::int64_t z, std::int64_t a, std::int64_t b) { return noise(z + seed, a, b) > 0.9996 ? 38.0 : -5.0; };
}

// Odd numbers of bricks, more than a workgroup of the shaders, and lines of peaks that end within words.
VolumeGrid odd_grid(VoxelType type) {
    return db_grid(69, 46, 37, type);
}

TEST_F(PeakSlots, HalfFloatsUseLargestValue) {
    VolumeGrid grid = db_grid(8, 1, 1, VoxelType::f16);
    grid.scale = 1;
    for (const bool peaks : {false, true}) {
        make_with(peaks, grid);
        const std::array<std::uint16_t, 8> codes{0xC900, 0xC900, 0xC900, 0x4D00, 0xC900, 0xC900, 0xC900, 0xCD00};
        const auto bytes = std::as_bytes(std::span(codes));
        write(0, {bytes.begin(), bytes.end()});
        View view = voxel_view(grid, 1, 8);
        view.mode = ViewMode::mip;
        const Image seen = picture(whole(0, 1), view);
        view.skip_empty = false;
        DisplayedSlots again = whole(0, 1);
        EXPECT_EQ(seen.pixels, picture(again, view).pixels);
    }
}

TEST_F(PeakSlots, VolumesInPartsLookLikeVoxels) {
    const VolumeGrid large = db_grid(257, 256, 256, VoxelType::u8);
    const VolumeGrid words = db_grid(64, 30, 21, VoxelType::u8);  // lines of whole words: sixteen peaks each
    const auto blocks = [](std::int64_t z, std::int64_t a, std::int64_t b) {
        return z / 16 % 4 == 1 && (a + b) / 32 % 3 == 0 ? 35.0 : -4.0;
    };
    constexpr std::array modes{ViewMode::composite, ViewMode::mip};
    for (const auto& [grid, value, depths] : {std::tuple{large, ValueAt(blocks), 8}, {words, points(7), 4}}) {
        const std::vector<std::byte> codes = voxels(grid, value);
        std::vector<std::vector<std::vector<std::uint8_t>>> seen;
        for (const bool peaks : {false, true}) {
            make_with(peaks, grid);
            if (peaks) {
                EXPECT_EQ(slots_->targets(0).peaks->depths, depths);
            }
            write(0, codes, 0, grid.b_scans / 2);
            seen.push_back(pictures(shown(0, 1, grid.b_scans / 2), small_view(), modes));
            write(0, codes, grid.b_scans / 2, grid.b_scans);
            seen.push_back(pictures(whole(0, 1), small_view(), modes));
        }
        EXPECT_EQ(seen[0], seen[2]) << depths;
        EXPECT_EQ(seen[1], seen[3]) << depths;
    }
}

// Slice by slice over another volume, and over earlier contents of the slot: only new slices are rebuilt.
TEST_F(PeakSlots, SlowRollingLooksLikeVoxels) {
    const VolumeGrid grid = odd_grid(VoxelType::u8);
    const auto above = voxels(grid, points(100)), below = voxels(grid, points(200));
    const auto before = voxels(grid, [](auto...) { return 38.0; });
    std::vector<std::vector<std::vector<std::uint8_t>>> seen[2];
    for (const bool peaks : {false, true}) {
        make_with(peaks, grid);
        write(0, above);
        write(2, before);
        pictures(whole(0, 1), small_view());
        pictures(whole(2, 2), small_view());
        std::int64_t last = 0;
        for (const std::int64_t filled_to : {1, 4, 5, 11, 28, 37}) {
            write(2, below, last, filled_to);
            DisplayedSlots both = shown(2, 3, filled_to);
            both.previous = DisplayedSlot{0, 1, grid.b_scans};
            seen[peaks ? 1 : 0].push_back(pictures(both, small_view()));
            last = filled_to;
        }
        EXPECT_EQ(seen[peaks ? 1 : 0].back(), pictures(whole(2, 3), small_view()));
    }
    EXPECT_EQ(seen[0], seen[1]);
    make_with(true, grid);
    write(1, below);
    EXPECT_EQ(seen[1].back(), pictures(whole(1, 1), small_view())) << "bit by bit and at once";
}

// If the peaks indicate empty bricks, the voxels do not matter.
TEST_F(PeakSlots, VoxelsAreNotReadAgain) {
    make_with(true, odd_grid(VoxelType::u8));
    const std::vector<std::byte> codes = voxels(grid_, points(0));
    write(0, codes);
    const Image seen = picture(whole(0, 1), small_view());
    write(0, codes);
    const Peaks peaks = *slots_->targets(0).peaks;
    std::memset(peaks.target.data, 0, index(peaks.target.b_scan_bytes * grid_.b_scans));
    View view = with(small_view(), "box=false low=2");
    const Image none = picture(whole(0, 2), view);
    EXPECT_NE(seen.pixels, none.pixels);
    for (std::size_t i = 3; i < none.pixels.size(); i += 4) ASSERT_EQ(none.pixels[i], none.pixels[3]);
    for (std::size_t i = 0; i < none.pixels.size(); ++i) ASSERT_EQ(none.pixels[i], none.pixels[i % 4]);
}

}  // namespace
}  // namespace echolux::test
