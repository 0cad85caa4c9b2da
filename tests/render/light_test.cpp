// Ambient occlusion and shadows: parts that light cannot reach are darker, and nothing else.
#include <cmath>

#include "compute/indexing.h"
#include "rendering.h"

namespace echolux::test {
namespace {

constexpr std::int64_t edge = 96;

// Seen from above, one pixel per column of voxels: pixel (x, y) shows A-scan x, B-scan edge - 1 - y.
class LightFromElsewhere : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        view_ = voxel_view(db_grid(edge, edge, edge), edge, edge);
        view_.elevation_deg = 90;
        view_.preset = "oct-gray";
        view_.low = 0;
        view_.high = 40;
    }

    void show(const ValueAt& value) {
        const VolumeGrid grid = db_grid(edge, edge, edge);
        renderer().set_volume(grid, voxels(grid, value).data());
    }

    // Brightness of the pixel at this A-scan and B-scan, relative to that without occlusion and shadows.
    double brightness(std::int64_t a, std::int64_t b) {
        const auto at = index(4 * ((edge - 1 - b) * edge + a));
        View plain = view_;
        plain.ambient_occlusion = plain.shadows = 0;
        return static_cast<double>(renderer().render(view_).pixels[at]) / renderer().render(plain).pixels[at];
    }

    View view_;
};

// A block below depth 40, with a shaft of 8 x 8 voxels down to depth 80.
double pit(std::int64_t z, std::int64_t a, std::int64_t b) {
    const bool in_shaft = std::abs(a - 48) < 4 && std::abs(b - 48) < 4 && z < 80;
    return z < 40 || in_shaft ? 0 : 38;
}

TEST_F(LightFromElsewhere, DarkensPitAndKeepsWallBright) {
    show(pit);
    for (const ViewMode mode : {ViewMode::composite, ViewMode::isosurface, ViewMode::mida, ViewMode::points}) {
        view_.mode = mode;
        view_.ambient_occlusion = 1;
        EXPECT_GT(brightness(20, 20), 0.95) << static_cast<int>(mode);
        EXPECT_GT(brightness(30, 70), 0.95) << static_cast<int>(mode);
        EXPECT_LT(brightness(48, 48), 0.45) << static_cast<int>(mode);
    }
}

// At the foot of a wall, the floor receives half of the light.
TEST_F(LightFromElsewhere, FootOfWallReceivesHalfLight) {
    show([](std::int64_t z, std::int64_t a, std::int64_t) { return z >= 60 || a < 30 ? 38.0 : 0.0; });
    view_.ambient_occlusion = 1;
    EXPECT_NEAR(brightness(32, 48), 0.55, 0.12);
    EXPECT_GT(brightness(80, 48), 0.95);
}

TEST_F(LightFromElsewhere, PitDarkensWithStrength) {
    show(pit);
    double before = 1.01;
    for (const double strength : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        view_.ambient_occlusion = strength;
        const double now = brightness(48, 48);
        EXPECT_LT(now, before - 0.05 * (strength > 0 ? 1 : 0)) << strength;
        before = now;
    }
}

// A ball of radius 10 above a plate at depth 70. The lamp shines at 45 degrees from the left or right, so the shadow is
// displaced to the other side by the height of the ball above the plate.
struct BallAndPlate {
    static constexpr double depth = 40, radius = 10, plate = 70;

    double operator()(std::int64_t z, std::int64_t a, std::int64_t b) const {
        const auto from = [](std::int64_t i, double middle) { return static_cast<double>(i) + 0.5 - middle; };
        if (std::hypot(from(z, depth), from(a, 48), from(b, 48)) < radius) return 38;
        return static_cast<double>(z) >= plate ? 38 : 0;
    }
};

TEST_F(LightFromElsewhere, BallCastsShadowAwayFromLamp) {
    show(BallAndPlate{});
    view_.shadows = 1;
    view_.lamp = Lamp::free;
    view_.lamp_elevation_deg = 0;
    for (const auto& [azimuth, shadow, light] : {std::tuple{45.0, 18, 78}, {-45.0, 78, 18}}) {
        view_.lamp_azimuth_deg = azimuth;  // seen from above, the azimuth points along the A-scans
        EXPECT_LT(brightness(shadow, 48), 0.6) << azimuth;
        EXPECT_GT(brightness(light, 48), 0.97) << azimuth;
        for (const std::int64_t b : {16, 80}) {
            EXPECT_GT(brightness(18, b), 0.97) << azimuth;
            EXPECT_GT(brightness(78, b), 0.97) << azimuth;
        }
    }
}

TEST_F(LightFromElsewhere, FollowsChangedVolume) {
    view_.ambient_occlusion = 1;
    show(pit);
    EXPECT_LT(brightness(48, 48), 0.45);
    show([](std::int64_t z, std::int64_t, std::int64_t) { return z < 40 ? 0.0 : 38.0; });
    EXPECT_GT(brightness(48, 48), 0.95);
}

TEST_F(LightFromElsewhere, IsWhiteWithoutOccluders) {
    show([](auto...) { return 0.0; });
    view_.ambient_occlusion = view_.shadows = 1;
    view_.lamp = Lamp::free;
    const Image empty = renderer().render(view_);
    view_.ambient_occlusion = view_.shadows = 0;
    EXPECT_EQ(renderer().render(view_).pixels, empty.pixels);
}

}  // namespace
}  // namespace echolux::test
