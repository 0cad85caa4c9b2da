// Properties of whole pictures: alpha, background, box, sizes, determinism, and refused views.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "compute/error.h"
#include "compute/indexing.h"
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

    std::array<int, 4> pixel(const Image& image, std::int64_t x, std::int64_t y) {
        const auto at = index(4 * (y * image.width + x));
        return {image.pixels[at], image.pixels[at + 1], image.pixels[at + 2], image.pixels[at + 3]};
    }

    // Returns the message of the error.
    std::string refusal() {
        try {
            renderer().render(view_);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_setting);
            return error.line();
        }
        return "no error";
    }

    View view_;
};

TEST_F(Picture, HasRequestedSizeAndBackground) {
    view_.background = {0.2, 0.4, 0.6};
    const Image image = renderer().render(view_);
    EXPECT_EQ(image.width, 61);
    EXPECT_EQ(image.height, 45);
    ASSERT_EQ(image.pixels.size(), 61u * 45 * 4);
    EXPECT_EQ(pixel(image, 0, 0), (std::array{51, 102, 153, 255}));
    EXPECT_EQ(pixel(image, 60, 44), (std::array{51, 102, 153, 255}));
    EXPECT_NE(pixel(image, 30, 22), (std::array{51, 102, 153, 255}));
}

TEST_F(Picture, TransparentPictureOverBackgroundEqualsOpaqueOne) {
    view_.opacity = 0.3;
    view_.background = {0.2, 0.4, 0.6};
    const Image opaque = renderer().render(view_);
    view_.transparent = true;
    const Image clear = renderer().render(view_);
    EXPECT_EQ(pixel(clear, 0, 0), (std::array{0, 0, 0, 0}));
    int veiled = 0;
    for (std::int64_t y = 0; y < 45; ++y) {
        for (std::int64_t x = 0; x < 61; ++x) {
            const auto over = pixel(clear, x, y);
            const double alpha = over[3] / 255.0;
            if (alpha > 0.1 && alpha < 0.9) ++veiled;
            for (std::size_t c = 0; c < 3; ++c) {
                EXPECT_NEAR(alpha * over[c] + (1 - alpha) * 255 * view_.background[c], pixel(opaque, x, y)[c], 2);
            }
            EXPECT_EQ(pixel(opaque, x, y)[3], 255);
        }
    }
    EXPECT_GT(veiled, 50);
}

TEST_F(Picture, IsReproducible) {
    const Image first = renderer().render(view_);
    EXPECT_EQ(renderer().render(view_).pixels, first.pixels);
}

TEST_F(Picture, ReadsBackFinishedPixelsOnly) {
    const std::int64_t before = renderer().bytes_read_back();
    EXPECT_EQ(before, 0);
    renderer().render(view_);
    EXPECT_EQ(renderer().bytes_read_back(), 61 * 45 * 4);
}

TEST_F(Picture, BoxDrawsLinesAtEdgesOfVolume) {
    view_.projection = Projection::orthographic;
    view_.azimuth_deg = view_.elevation_deg = 0;
    view_.width = view_.height = 101;
    const Image without = renderer().render(view_);
    view_.box = true;
    const Image with = renderer().render(view_);
    // The face of a cube that is inscribed in its sphere.
    const auto edge = static_cast<std::int64_t>(50.5 - 50.5 / std::sqrt(3.0));
    EXPECT_NE(pixel(with, edge, 50), pixel(without, edge, 50));
    EXPECT_NE(pixel(with, 50, edge), pixel(without, 50, edge));
    EXPECT_EQ(pixel(with, edge - 4, 50), pixel(without, edge - 4, 50));
    EXPECT_EQ(pixel(with, 50, 50), pixel(without, 50, 50));
}

TEST_F(Picture, LightingChangesShading) {
    view_.lighting = false;
    const Image flat = renderer().render(view_);
    view_.lighting = true;
    EXPECT_NE(renderer().render(view_).pixels, flat.pixels);
    view_.lighting_strength = 0;
    EXPECT_EQ(renderer().render(view_).pixels, flat.pixels);
}

TEST_F(Picture, EachPresetShowsVolume) {
    for (const char* preset : {"oct-gray", "tissue", "retina", "angiogram", "gray"}) {
        view_.preset = preset;
        EXPECT_LT(renderer().measure(view_)[22 * 61 + 30].transmittance, 0.05) << preset;
    }
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

TEST_F(Picture, NonFiniteVoxelsDoNotSpread) {
    const VolumeGrid grid = db_grid(32, 32, 32);
    const ValueAt some = ball(grid, 16);
    const auto holed = [&](std::int64_t z, std::int64_t a, std::int64_t b) {
        return (z + a + b) % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : some(z, a, b);
    };
    renderer().set_volume(grid, voxels(grid, holed).data());
    view_.mode = ViewMode::mip;
    for (const RayMeasure& ray : renderer().measure(view_)) {
        EXPECT_TRUE(std::isfinite(ray.value));
        EXPECT_LE(ray.value, 41);
    }
}

TEST_F(Picture, InvalidViewsNameKey) {
    view_.zoom = 0;
    EXPECT_THAT(refusal(), testing::HasSubstr("view.zoom"));
    view_ = {};
    view_.width = 0;
    EXPECT_THAT(refusal(), testing::HasSubstr("view.width"));
    view_ = {};
    view_.low = view_.high = 5;
    EXPECT_THAT(refusal(), testing::HasSubstr("view.low"));
    view_ = {};
    view_.low = 60;  // the preset ends at 40 dB
    EXPECT_THAT(refusal(), testing::HasSubstr("view.high"));
    view_ = {};
    view_.shadows = 0.5;  // the lamp is at the eye
    EXPECT_THAT(refusal(), testing::HasSubstr("view.shadows"));
    view_ = {};
    view_.background = {0, 0};
    EXPECT_THAT(refusal(), testing::HasSubstr("view.background"));
}

}  // namespace
}  // namespace echolux::test
