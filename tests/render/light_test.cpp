// Ambient occlusion and shadows: parts that light cannot reach are darker, and nothing else.
#include <cmath>

#include "compute/indexing.h"
#include "rendering.h"

namespace echolux::test {
namespace {

constexpr std::int64_t edge = 96;

// Seen from above, one pixel per column of voxels: pixel (x, y) shows A-scan x, B-scan edge - 1 - y.
class LightFromElsewhere : public SharedRendering {
  protected:
    void SetUp() override {
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
