// Pictures and volumes at the limits of their size. Volumes that cannot be displayed are refused with their sizes,
// before anything is allocated or read.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Extremes : public Rendering {
  protected:
    void show_ball(std::int64_t depth, std::int64_t a_scans, std::int64_t b_scans) {
        const VolumeGrid grid = db_grid(depth, a_scans, b_scans);
        renderer().set_volume(grid, voxels(grid, [](auto...) { return 30.0; }).data());
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
    set(view_, "mode=traced paths=2");
    EXPECT_EQ(renderer().render(view_).pixels.size(), 4u);
}

TEST_F(Extremes, ThinVolumesAreSeen) {
    set(view_, "width=64 height=64 box=false");
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
    set(view_, "width=16384 height=70 projection=orthographic background=0,0,1");
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

// More columns than a tile. Positions of jittered passes are rounded the same way in tiles as in a window, whose
// picture has one accumulation buffer.
TEST_F(Extremes, TilesEqualWholePictureBitForBit) {
    const VolumeGrid grid = db_grid(24, 24, 24);
    renderer().set_volume(grid, voxels(grid, [](auto z, auto a, auto b) { return 40 * noise(z, a, b); }).data());
    set(view_, "preset=tissue scale_bar=true samples=3 rest_samples=3 height=40 zoom=6");
    view_.width = 4096 + 256;
    const Image tiles = renderer().render(view_);
    double now_s = 0;
    const PanePicture whole = followed_to_rest(renderer(), view_, now_s, 3);
    EXPECT_GT(std::ranges::count_if(tiles.pixels, [](int level) { return level > 20 && level < 250; }), 20000);
    EXPECT_EQ(largest_difference(tiles, renderer().read(whole.drawing)), 0);
}

// One path per pixel, in tiles with separate feature buffers.
TEST_F(Extremes, SlowLargePicturesAreTraced) {
    show_ball(8, 8, 8);
    set(view_, "mode=traced width=8192 height=8192 paths=1 bounces=1 zoom=0.25 background=0,0,1");
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
    EXPECT_THROW(renderer().render(view_, PictureBits::sixteen, [&](const PictureRows&) { stop(0); }), Error);
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
    set(view_, "low=0 high=2");
    const auto shown = [&](std::uint16_t dark, std::uint16_t bright) {
        halves[5] = dark;
        halves[40] = bright;
        renderer().set_volume(grid, halves.data());
        return renderer().render(view_).pixels;
    };
    EXPECT_EQ(shown(not_a_number, infinite), shown(one, two));
    EXPECT_NE(shown(two, one), shown(one, two));
}

class RefusedVolume : public Rendering {
  protected:
    std::string refusal(const VolumeGrid& grid, ErrorCode code) {
        const Error error = refusal_of([&] { renderer().set_volume(grid, nullptr); });  // never read
        EXPECT_EQ(error.code(), code);
        return error.line();
    }
};

TEST_F(RefusedVolume, NamesBytesNeededAndAvailable) {
    EXPECT_THAT(refusal(db_grid(2048, 2048, 2048), ErrorCode::out_of_memory),
                AllOf(HasSubstr("2048 x 2048 x 2048"), HasSubstr("needs 32.00 GiB"), HasSubstr("at most"),
                      HasSubstr(renderer().device_name())));
}

TEST_F(RefusedVolume, ReportsLongestEdge) {
    EXPECT_THAT(refusal(db_grid(20000, 4, 4), ErrorCode::out_of_memory),
                AllOf(HasSubstr("20000 x 4 x 4"), HasSubstr("at most")));
    EXPECT_THAT(refusal(db_grid(4, 4, std::int64_t{1} << 40), ErrorCode::out_of_memory), HasSubstr("1099511627776"));
}

TEST_F(RefusedVolume, ReportsReason) {
    EXPECT_THAT(refusal(db_grid(4, 4, 4, VoxelType::complex64), ErrorCode::bad_setting),
                AllOf(HasSubstr("complex"), HasSubstr("recipe.quantity")));
    EXPECT_THAT(refusal(db_grid(4, 0, 4), ErrorCode::bad_setting), HasSubstr("empty"));
    VolumeGrid flat = db_grid(4, 4, 4);
    flat.scale = 0;
    EXPECT_THAT(refusal(flat, ErrorCode::bad_setting), HasSubstr("scale"));
}

TEST_F(RefusedVolume, KeepsPreviousVolume) {
    const VolumeGrid grid = db_grid(16, 16, 16);
    renderer().set_volume(grid, voxels(grid, ball(grid, 8)).data());
    View view = sized_view(32, 32);
    const Image before = renderer().render(view);
    refusal(db_grid(20000, 4, 4), ErrorCode::out_of_memory);
    EXPECT_EQ(renderer().render(view).pixels, before.pixels);
}

TEST_F(RefusedVolume, IsRequiredForPicture) {
    EXPECT_THROW(renderer().render({}), Error);
}

TEST_F(RefusedVolume, SignedVoxelsKeepTheirValues) {
    VolumeGrid grid = db_grid(2, 1, 1, VoxelType::i16);
    grid.scale = 0.5;
    grid.offset = 10;
    const std::array<std::int16_t, 2> codes{-2000, -3000};
    renderer().set_volume(grid, codes.data());
    View view = voxel_view(grid, 1, 2);
    view.mode = ViewMode::mip;
    const std::vector<RayMeasure> rays = renderer().measure(view);
    EXPECT_NEAR(rays[0].value, -990, 0.01);
    EXPECT_NEAR(rays[1].value, -1490, 0.01);
}

TEST_F(RefusedVolume, SpacingIsValid) {
    VolumeGrid grid = db_grid(4, 4, 4);
    const std::array<const char*, 3> axes{"depth", "A-scans", "B-scans"};
    for (const double wrong : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            grid.spacing_um = {1, 1, 1};
            grid.spacing_um[axis] = wrong;
            EXPECT_THAT(refusal(grid, ErrorCode::bad_setting), AllOf(HasSubstr("spacing"), HasSubstr(axes[axis])));
        }
    }
}

}  // namespace
}  // namespace echolux::test
