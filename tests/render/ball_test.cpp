// A ball looks the same from all directions, and its isosurface is at the position predicted by geometry.
#include <cmath>

#include "compute/indexing.h"
#include "rendering.h"

namespace echolux::test {
namespace {

constexpr std::int64_t edge = 64;

class Ball : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const VolumeGrid grid = db_grid(edge, edge, edge);
        renderer().set_volume(grid, voxels(grid, ball(grid, 30)).data());
        view_ = voxel_view(grid, edge, edge);
    }

    // Largest difference of a colour channel over all rotations.
    int change_under_rotation() {
        view_.azimuth_deg = view_.elevation_deg = 0;
        const Image first = renderer().render(view_);
        int most = 0;
        for (const auto& [azimuth, elevation] : {std::pair{90.0, 0.0}, {0.0, 90.0}, {45.0, 35.0}, {-130.0, -60.0}}) {
            view_.azimuth_deg = azimuth;
            view_.elevation_deg = elevation;
            const Image turned = renderer().render(view_);
            for (std::size_t i = 0; i < first.pixels.size(); ++i) {
                most = std::max(most, std::abs(first.pixels[i] - turned.pixels[i]));
            }
        }
        return most;
    }

    View view_;
};

TEST_F(Ball, CompositeIsSameFromEverywhere) {
    EXPECT_LE(change_under_rotation(), 8);
}

TEST_F(Ball, LitCompositeIsSameFromEverywhere) {
    view_.lighting = true;
    EXPECT_LE(change_under_rotation(), 10);
}

TEST_F(Ball, MaximumIsSameFromEverywhere) {
    view_.mode = ViewMode::mip;
    EXPECT_LE(change_under_rotation(), 8);
}

TEST_F(Ball, OffCentreBallIsNotSame) {  // proves that the test above can fail
    const VolumeGrid grid = db_grid(edge, edge, edge);
    const ValueAt centred = ball(grid, 30);
    const auto shifted = [&](std::int64_t z, std::int64_t a, std::int64_t b) { return centred(z, a - 1, b); };
    renderer().set_volume(grid, voxels(grid, shifted).data());
    EXPECT_GT(change_under_rotation(), 10);
}

TEST_F(Ball, IsosurfaceIsHitAtAnalyticDepth) {
    view_.mode = ViewMode::isosurface;
    view_.isovalue = 12;  // at 21 voxels from the centre
    const double radius = 30 * (1 - 12.0 / 40);
    const double eye = std::sqrt(3.0) * edge;  // the plane of the eye is one diagonal from the centre
    for (const auto& [azimuth, elevation] : {std::pair{0.0, 0.0}, {90.0, 0.0}, {0.0, 90.0}, {40.0, 30.0}}) {
        view_.azimuth_deg = azimuth;
        view_.elevation_deg = elevation;
        const std::vector<RayMeasure> rays = renderer().measure(view_);
        for (std::int64_t y = 0; y < edge; ++y) {
            for (std::int64_t x = 0; x < edge; ++x) {
                const double off =
                    std::hypot(static_cast<double>(x) + 0.5 - edge / 2, static_cast<double>(y) + 0.5 - edge / 2);
                const RayMeasure& ray = rays[index(y * edge + x)];
                if (off > radius + 0.5) {
                    EXPECT_LT(ray.distance, 0);
                }
                if (off > radius - 2)
                    // Excludes grazing rays, because trilinear voxels are not an exact sphere.
                    continue;
                EXPECT_NEAR(ray.distance, eye - std::sqrt(radius * radius - off * off), 0.1);
                EXPECT_EQ(ray.transmittance, 0);
            }
        }
    }
}

TEST_F(Ball, LitIsosurfaceIsBrightestInMiddle) {
    view_.mode = ViewMode::isosurface;
    view_.isovalue = 12;
    view_.lighting = true;
    view_.lighting_strength = 1;
    const Image image = renderer().render(view_);
    const auto red = [&](std::int64_t x) { return image.pixels[index(4 * (edge / 2 * edge + x))]; };
    EXPECT_GT(red(edge / 2), red(edge / 2 + 10));
    EXPECT_GT(red(edge / 2 + 10), red(edge / 2 + 18));
}

}  // namespace
}  // namespace echolux::test
