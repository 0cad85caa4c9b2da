// Properties of whole pictures: size, background, presets and ranges of values.
#include "compute/plan/describe.h"
#include "compute/plan/params.h"
#include "rendering.h"

namespace echolux::test {
namespace {

class Picture : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const VolumeGrid grid = db_grid(32, 32, 32);
        renderer().set_volume(grid, voxels(grid, ball(grid, 16)).data());
        view_.width = 61;  // not a multiple of the workgroup size
        view_.height = 45;
        view_.box = false;
    }

    View view_;
};

TEST_F(Picture, HasRequestedSizeAndBackground) {
    view_.background = {0.2, 0.4, 0.6};
    EXPECT_EQ(renderer().bytes_read_back(), 0);
    const Image image = renderer().render(view_);
    EXPECT_EQ(renderer().bytes_read_back(), 61 * 45 * 4);
    EXPECT_EQ(image.width, 61);
    EXPECT_EQ(image.height, 45);
    ASSERT_EQ(image.pixels.size(), 61u * 45 * 4);
    EXPECT_EQ(pixel_at(image, 0, 0), (std::array{51, 102, 153, 255}));
    EXPECT_EQ(pixel_at(image, 60, 44), (std::array{51, 102, 153, 255}));
    EXPECT_NE(pixel_at(image, 30, 22), (std::array{51, 102, 153, 255}));
}

TEST_F(Picture, AutomaticPresetIsTissueForDbAndGrayOtherwise) {
    const auto picture_of = [&](const char* preset) {
        view_.preset = preset;
        return renderer().render(view_).pixels;
    };
    EXPECT_EQ(picture_of("automatic"), picture_of("tissue"));
    EXPECT_NE(picture_of("automatic"), picture_of("gray"));
    VolumeGrid grid = db_grid(32, 32, 32);
    grid.quantity = "amplitude";
    grid.unit = "counts";
    renderer().set_volume(grid, voxels(grid, ball(grid, 16)).data());
    EXPECT_EQ(picture_of("automatic"), picture_of("gray"));
    EXPECT_NE(picture_of("automatic"), picture_of("tissue"));
}

TEST(DbGrid, SpellsQuantityLikeRecipe) {
    const VolumeGrid grid = db_grid(1, 1, 1);
    EXPECT_EQ(Value(grid.quantity), value_of(Recipe{.quantity = Quantity::db}, "quantity"));
    EXPECT_EQ(grid.unit, "dB above noise floor");
}

TEST_F(Picture, OpenEndsOfRangeAreAutomatic) {
    const auto pixels = [&](double low, double high) {
        view_.low = low;
        view_.high = high;
        return renderer().render(view_).pixels;
    };
    const auto chosen = pixels(lowest_value, highest_value);
    EXPECT_EQ(chosen, pixels(3, 40));  // range of the preset tissue
    EXPECT_EQ(pixels(10, highest_value), pixels(10, 40));
    EXPECT_EQ(pixels(lowest_value, 30), pixels(3, 30));
    EXPECT_NE(pixels(10, highest_value), chosen);
    EXPECT_NE(pixels(lowest_value, 30), chosen);
    EXPECT_NE(pixels(0, 40), chosen);  // zero has no special meaning
}

TEST_F(Picture, ForeignVolumesSpanPercentiles) {
    VolumeGrid grid = db_grid(32, 32, 32);
    grid.quantity = grid.unit = "";
    const ValueAt some = ball(grid, 16);
    const auto houndsfield = [&](auto... at) { return 50 * some(at...) - 1000; };
    renderer().set_volume(grid, voxels(grid, houndsfield).data());
    const std::vector<RayMeasure> rays = renderer().measure(view_);
    EXPECT_LT(rays[22 * 61 + 30].transmittance, 0.1);
    EXPECT_GT(rays[0].transmittance, 0.99);
    EXPECT_GT(rays[22 * 61 + 12].transmittance, 0.99);
}

}  // namespace
}  // namespace echolux::test
