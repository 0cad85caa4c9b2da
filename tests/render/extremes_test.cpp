// Pictures and volumes at the limits of their size.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "rendering.h"

namespace echolux::test {
namespace {

class Extremes : public Rendering {
  protected:
    void show_ball(std::int64_t depth, std::int64_t a_scans, std::int64_t b_scans) {
        const VolumeGrid grid = db_grid(depth, a_scans, b_scans);
        renderer().set_volume(grid, voxels(grid, [](auto...) { return 30.0; }).data());
    }

    std::string refusal_of(const VolumeGrid& grid) {
        try {
            renderer().set_volume(grid, voxels(grid, [](auto...) { return 1.0; }).data());
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_setting);
            return error.line();
        }
        return "no error";
    }

    View view_;
};

TEST_F(Extremes, SlowOnePixel) {
    show_ball(16, 16, 16);
    view_.width = view_.height = 1;
    for (const ViewMode mode : all_modes) {
        view_.mode = mode;
        EXPECT_EQ(renderer().render(view_).pixels.size(), 4u);
    }
    view_.mode = ViewMode::traced;
    view_.paths = 2;
    EXPECT_EQ(renderer().render(view_).pixels.size(), 4u);
}

TEST_F(Extremes, ThinVolumesAreSeen) {
    view_.width = view_.height = 64;
    view_.box = false;
    using Size = std::array<std::int64_t, 3>;
    for (const auto [depth, a_scans, b_scans] :
         {Size{1, 1, 1}, Size{1, 32, 32}, Size{32, 1, 32}, Size{32, 32, 1}, Size{1, 1, 32}}) {
        show_ball(depth, a_scans, b_scans);
        for (const ViewMode mode : all_modes) {
            view_.mode = mode;
            const Image image = renderer().render(view_);
            EXPECT_TRUE(std::ranges::any_of(image.pixels, [](int level) { return level != 255 && level > 20; }))
                << depth << " x " << a_scans << " x " << b_scans << " in mode " << static_cast<int>(mode);
        }
    }
}

// Wider than a tile, and than the max width that devices must support. Each part equals that of the whole picture.
TEST_F(Extremes, WidePicturesUseTiles) {
    show_ball(16, 16, 16);
    view_.width = 16384;
    view_.height = 70;
    view_.projection = Projection::orthographic;
    view_.background = {0, 0, 1};
    std::int64_t rows = 0;
    view_.zoom = 1;
    const Image wide = renderer().render(view_, {}, [&](std::int64_t more) { rows += more; });
    EXPECT_EQ(rows, 70);
    view_.width = 70;
    const Image middle = renderer().render(view_);
    for (std::int64_t y = 0; y < 70; ++y) {
        const auto* of_wide = wide.pixels.data() + 4 * (y * 16384 + 8192 - 35);
        EXPECT_TRUE(std::equal(of_wide, of_wide + 4 * 70, middle.pixels.data() + 4 * y * 70)) << "row " << y;
    }
    EXPECT_EQ(wide.pixels[4 * 16383 + 2], 255);
}

TEST_F(Extremes, SlowLargePictureEqualsItsParts) {
    show_ball(8, 8, 8);
    view_.box = false;  // the width of its lines depends on the size of the picture
    view_.width = view_.height = 8192;
    view_.projection = Projection::orthographic;
    view_.lighting = false;
    view_.zoom = 0.25;
    std::int64_t rows = 0;
    const Image large = renderer().render(view_, {}, [&](std::int64_t more) { rows += more; });
    EXPECT_EQ(rows, 8192);
    view_.width = view_.height = 2048;
    view_.zoom = 1;
    const Image middle = renderer().render(view_);
    std::int64_t different = 0;
    for (std::int64_t y = 0; y < 2048; ++y) {
        const auto* row = large.pixels.data() + 4 * ((y + 3072) * 8192 + 3072);
        for (std::int64_t x = 0; x < 4 * 2048; ++x) {
            different += std::abs(row[x] - middle.pixels[index(4 * 2048 * y + x)]) > 1;
        }
    }
    EXPECT_EQ(different, 0);
}

// One path per pixel, in tiles with separate feature buffers.
TEST_F(Extremes, SlowLargePicturesAreTraced) {
    show_ball(8, 8, 8);
    view_.mode = ViewMode::traced;
    view_.width = view_.height = 8192;
    view_.paths = 1;
    view_.bounces = 1;
    view_.zoom = 0.25;
    view_.background = {0, 0, 1};
    std::int64_t rows = 0;
    const Image large = renderer().render(view_, {}, [&](std::int64_t more) { rows += more; });
    EXPECT_EQ(rows, 8192);
    const auto blue = [&](std::int64_t x, std::int64_t y) { return large.pixels[4 * (y * 8192 + x) + 2]; };
    EXPECT_EQ(blue(0, 0), 255);
    EXPECT_EQ(blue(8191, 8191), 255);
    EXPECT_NE(blue(4096, 4096), 255);
}

TEST_F(Extremes, ProgressCallbackStopsRendering) {
    show_ball(16, 16, 16);
    view_.width = view_.height = 3000;
    const auto stop = [](std::int64_t) { throw Error(ErrorCode::cancelled, "stopped", "test"); };
    EXPECT_THROW(renderer().render(view_, {}, stop), Error);
    view_.width = view_.height = 8;
    EXPECT_EQ(renderer().render(view_).pixels.size(), 4u * 64);
}

TEST_F(Extremes, NonFiniteHalfFloatsUseEndsOfRange) {
    VolumeGrid grid = db_grid(4, 4, 4, VoxelType::f16);
    grid.scale = 1;
    grid.offset = 0;
    constexpr std::uint16_t one = 0x3C00, two = 0x4000, not_a_number = 0x7E00, infinite = 0x7C00;
    std::vector<std::uint16_t> halves(64, one);
    std::fill(halves.begin() + 32, halves.end(), two);
    view_ = voxel_view(grid, 4, 4);
    view_.low = 0;
    view_.high = 2;
    const auto shown = [&](std::uint16_t dark, std::uint16_t bright) {
        halves[5] = dark;
        halves[40] = bright;
        renderer().set_volume(grid, halves.data());
        return renderer().render(view_).pixels;
    };
    EXPECT_EQ(shown(not_a_number, infinite), shown(one, two));
    EXPECT_NE(shown(two, one), shown(one, two));
}

TEST_F(Extremes, RejectsInvalidSpacing) {
    VolumeGrid grid = db_grid(4, 4, 4);
    grid.spacing_um = {0, 0, 0};  // unknown
    EXPECT_EQ(refusal_of(grid), "no error");
    const std::array<const char*, 3> axes{"depth", "A-scans", "B-scans"};
    for (const double wrong : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            grid.spacing_um = {1, 1, 1};
            grid.spacing_um[axis] = wrong;
            EXPECT_THAT(refusal_of(grid), testing::HasSubstr("spacing")) << axes[axis];
            EXPECT_THAT(refusal_of(grid), testing::HasSubstr(axes[axis]));
        }
    }
}

}  // namespace
}  // namespace echolux::test
