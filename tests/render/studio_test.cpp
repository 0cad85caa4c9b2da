// Surroundings of a volume: background, caps, ground and outlines, compared with their formulas.
#include <algorithm>
#include <cmath>

#include "compute/error.h"
#include "compute/indexing.h"
#include "render/camera.h"
#include "rendering.h"

namespace echolux::test {
namespace {

class StudioPictures : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        view_.preset = "gray";
        view_.low = 0;
        view_.high = 40;
        view_.box = false;
        view_.width = view_.height = 96;
        view_.background = {0.2, 0.4, 0.6};
    }

    void set_volume(const ValueAt& value) {
        const VolumeGrid grid = db_grid(40, 40, 40);
        renderer().set_volume(grid, voxels(grid, value).data());
    }
    void set_ball() {
        const VolumeGrid grid = db_grid(40, 40, 40);
        renderer().set_volume(grid, voxels(grid, ball(grid, 14)).data());
    }

    std::array<int, 4> at(const Image& image, std::int64_t x, std::int64_t y) const {
        const auto* pixel = &image.pixels[index(4 * (y * image.width + x))];
        return {pixel[0], pixel[1], pixel[2], pixel[3]};
    }

    View traced(View view) const {
        view.mode = ViewMode::traced;
        view.paths = 256;
        view.noise_target = 0;
        view.denoise = false;
        view.lamp_brightness = 0;
        return view;
    }

    View view_;
};

TEST_F(StudioPictures, SlowBackgroundBlendsFromTopToBottom) {
    set_volume([](auto...) { return -1; });
    view_.background_lower_colour = {1, 0, 0.5};
    for (const View& view : {view_, traced(view_)}) {
        const Image image = renderer().render(view);
        for (const std::int64_t row : {0, 20, 48, 95}) {
            const double down = (double(row) + 0.5) / 96;
            for (std::size_t c = 0; c < 3; ++c) {
                const double expected = 255 * std::lerp(view_.background[c], view_.background_lower_colour[c], down);
                EXPECT_NEAR(at(image, 7, row)[c], expected, 0.51) << row;
                EXPECT_EQ(at(image, 90, row)[c], at(image, 7, row)[c]);
            }
        }
    }
    view_.transparent = true;
    EXPECT_EQ(at(renderer().render(view_), 0, 50)[3], 0);
}

// A face opened by a cut shows its values, regardless of the volume behind it. Without a cut nothing changes.
TEST_F(StudioPictures, SlowCapsShowSections) {
    set_volume([](auto, auto a, auto) { return double(a); });
    view_.look = Look::top;
    view_.projection = Projection::orthographic;
    const Image whole = renderer().render(view_);
    view_.caps = Caps::gray;
    EXPECT_EQ(renderer().render(view_).pixels, whole.pixels);
    view_.clip_low = {0.5, 0, 0};
    const Camera camera(view_, {40, 40, 40});
    for (const View& view : {view_, traced(view_)}) {
        const Image cut = renderer().render(view);
        for (const double a : {6.0, 14.3, 20.0, 31.5, 38.0}) {
            const glm::dvec2 pixel = camera.project({0, a + 0.5 - 20, 3}) + 48.0;
            const double column = std::floor(pixel.x) + 0.5;
            const double there = a + (column - pixel.x) * camera.length_per_pixel();
            const auto seen = at(cut, std::int64_t(pixel.x), std::int64_t(pixel.y));
            for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(seen[c], 255 * there / 40, 1.5) << a;
        }
        EXPECT_EQ(at(cut, 0, 0), (std::array{51, 102, 153, 255}));
    }
}

TEST_F(StudioPictures, CapsKeepEmptyPartsOpen) {
    set_volume([](auto, auto a, auto) { return a < 20 ? -5 : 30; });
    view_.look = Look::top;
    view_.clip_low = {0.5, 0, 0};
    view_.caps = Caps::curve;
    const Image cut = renderer().render(view_);
    EXPECT_EQ(at(cut, 30, 48), (std::array{51, 102, 153, 255}));
    EXPECT_NE(at(cut, 60, 48), (std::array{51, 102, 153, 255}));
}

struct Shade {
    double sum = 0, a = 0;  // darkening of the ground, and its centre along A-scans
};

// Light from straight above darkens the ground below the ball; from the side, it darkens the ground farther away. Far
// from the ball, the ground keeps its exact colour.
TEST_F(StudioPictures, SlowGroundIsDarkInShadowOfVolume) {
    set_ball();
    view_.look = Look::bottom;  // from below the ground is invisible
    view_.ground_shadow = 0.8;
    view_.ground_gap_um = 4;
    View off = view_;
    off.ground_shadow = 0;
    EXPECT_EQ(renderer().render(view_).pixels, renderer().render(off).pixels);
    for (View* view : {&view_, &off}) {
        view->look = Look::free;
        view->elevation_deg = 50;
        view->azimuth_deg = 0;
        view->zoom = 0.4;
        view->projection = Projection::orthographic;
    }
    const Camera camera(view_, {40, 40, 40});
    const auto shade_of = [&](const View& lit, const View& plain) {
        const Image shadow = renderer().render(lit), without = renderer().render(plain);
        Shade shade;
        for (std::int64_t y = 0; y < 96; ++y) {
            for (std::int64_t x = 0; x < 96; ++x) {
                const int darker = at(without, x, y)[2] - at(shadow, x, y)[2];
                EXPECT_GE(darker, -1);
                shade.sum += darker;
                shade.a += darker * (double(x) + 0.5 - 48) * camera.length_per_pixel();
            }
        }
        EXPECT_EQ(at(shadow, 1, 94), at(without, 1, 94));
        shade.a /= std::max(shade.sum, 1.0);
        return shade;
    };
    const Shade above = shade_of(view_, off);
    EXPECT_GT(above.sum, 2000);
    EXPECT_NEAR(above.a, 0, 1.0);
    for (View* view : {&view_, &off}) {
        // from the left, at 45 degrees: the shadow moves as far as the ball is above the ground
        view->lamp = Lamp::free;
        view->lamp_azimuth_deg = -90;
        view->lamp_elevation_deg = 0;
        view->roll_deg = 0;
    }
    // This turns with the eye, 50 degrees above the horizon. Use a known angle from straight above instead.
    const auto aside = [&](View view) {
        view.look = Look::front;
        view.elevation_deg = 0;
        view.lamp_elevation_deg = 45;
        return view;
    };
    View low = aside(view_), low_off = aside(off);
    low.look = low_off.look = Look::free;
    low.elevation_deg = low_off.elevation_deg = 20;
    const Shade side = shade_of(low, low_off);
    // Towards the lamp: right -0.707, up 0.707 in a picture that is tilted by 20 degrees.
    const double rise = 0.70710678 * std::cos(20 * 3.14159265 / 180);
    EXPECT_NEAR(side.a, 24 * 0.70710678 / rise, 3);
    View path = traced(low), path_off = traced(low_off);
    path.sky = path_off.sky = 0;
    path.lamp_brightness = path_off.lamp_brightness = 1;
    path.paths = path_off.paths = 64;
    const Shade followed = shade_of(path, path_off);
    EXPECT_NEAR(followed.a, side.a, 2.5);
    EXPECT_GT(followed.sum, 2000);
}

// A ball has the colour of the outline at its limb, and its own in the centre.
TEST_F(StudioPictures, OutlinesFollowSilhouettes) {
    set_ball();
    view_.mode = ViewMode::isosurface;
    view_.isovalue = 8;
    view_.look = Look::front;
    view_.projection = Projection::orthographic;
    const Image plain = renderer().render(view_);
    view_.outline = 1;
    view_.outline_sharpness = 2;
    view_.outline_colour = {1, 0, 0};
    const Image drawn = renderer().render(view_);
    EXPECT_NEAR(at(drawn, 48, 48)[1], at(plain, 48, 48)[1], 3);
    const Camera camera(view_, {40, 40, 40});
    const double limb = 14 * (1 - 8.0 / 40) / camera.length_per_pixel();
    const auto edge = static_cast<std::int64_t>(48 + limb - 0.7);
    EXPECT_GT(at(drawn, edge, 48)[0], at(plain, edge, 48)[0]);
    EXPECT_LT(at(drawn, edge, 48)[1], 0.75 * at(plain, edge, 48)[1]);
    EXPECT_EQ(at(drawn, 2, 2), at(plain, 2, 2));
}

TEST(StudioViews, RejectInvalidSettings) {
    View view;
    check_view(view);
    const auto refused = [&](auto change) {
        View bad;
        change(bad);
        try {
            check_view(bad);
        } catch (const Error&) {
            return true;
        }
        return false;
    };
    EXPECT_TRUE(refused([](View& v) { v.background_lower_colour = {1, 2}; }));
    EXPECT_TRUE(refused([](View& v) { v.outline_colour = {}; }));
    EXPECT_TRUE(refused([](View& v) { v.ground_shadow = 1.5; }));
    EXPECT_TRUE(refused([](View& v) { v.shutter = -0.1; }));
    EXPECT_TRUE(refused([](View& v) { v.picture_frame = 0.3; }));
}

}  // namespace
}  // namespace echolux::test
