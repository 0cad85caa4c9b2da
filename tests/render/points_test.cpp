// A ball for each visible voxel, and no others.
#include <cmath>
#include <numbers>

#include "render/transfer_function.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

class Points : public SharedRendering {
  protected:
    View view_of(const VolumeGrid& grid) {
        View view = voxel_view(grid, 12 * pixels, 10 * pixels);
        view.zoom *= pixels;  // the picture is larger by the same factor
        set(view, "mode=points low=3 high=40");
        return view;
    }

    static constexpr std::int64_t pixels = 20;  // per edge of a voxel
};

// In the front view, each column of voxels shows a disc with the ball's radius in the centre of its square.
TEST_F(Points, AreDiscsOfRequestedSize) {
    const VolumeGrid grid = db_grid(10, 12, 14);
    renderer().set_volume(grid, voxels(grid, [](auto...) { return 30.0; }).data());
    View view = view_of(grid);
    for (const double size : {0.3, 0.8}) {
        view.point_size = size;
        const std::vector<RayMeasure> rays = renderer().measure(view);
        int hits = 0;
        for (std::int64_t y = 0; y < view.height; ++y) {
            for (std::int64_t x = 0; x < view.width; ++x) {
                const auto off = [](std::int64_t i) { return (static_cast<double>(i % pixels) + 0.5) / pixels - 0.5; };
                const double from_middle = std::hypot(off(x), off(y));
                const RayMeasure& ray = rays[index(y * view.width + x)];
                if (std::abs(from_middle - 0.5 * size) > 1e-3) {
                    EXPECT_EQ(ray.distance >= 0, from_middle < 0.5 * size) << x << " " << y;
                }
                if (ray.distance < 0) continue;
                ++hits;
                // The front of the first ball is half a voxel inside. The plane of the eye is one diagonal from the
                // centre.
                const double front = std::hypot(10.0, 12.0, 14.0) - 7 + 0.5;
                const double bulge = std::sqrt(std::max(0.25 * size * size - from_middle * from_middle, 0.0));
                EXPECT_NEAR(ray.distance, front - bulge, 2e-2);
                EXPECT_NEAR(ray.value, 30, 1e-3);
                EXPECT_EQ(ray.transmittance, 0);
            }
        }
        EXPECT_NEAR(hits, std::numbers::pi * 0.25 * size * size * 400 * 120, 0.05 * 400 * 120 * size);
    }
}

TEST_F(Points, CoverVisibleVoxelsOnly) {
    const VolumeGrid grid = db_grid(10, 12, 14);
    View view = view_of(grid);
    const TransferFunction function = transfer_function(view, grid, {});
    const double threshold = std::lerp(3.0, 40.0, function.first_visible_level());
    for (const auto& [value, are_seen] : {std::pair{threshold - 0.1, false}, {threshold + 0.1, true}}) {
        renderer().set_volume(grid, voxels(grid, [&, v = value](auto...) { return v; }).data());
        int hits = 0;
        for (const RayMeasure& ray : renderer().measure(view)) hits += ray.distance >= 0 ? 1 : 0;
        EXPECT_EQ(hits > 0, are_seen) << value;
    }
}

// At an angle, the first ball hit by a ray equals the result of a search through all balls.
TEST_F(Points, FrontBallIsVisible) {
    const VolumeGrid grid = db_grid(10, 12, 14);
    const auto is_there = [](std::int64_t z, std::int64_t a, std::int64_t b) { return noise(z, a, b) < 0.1; };
    const auto some = [&](std::int64_t z, std::int64_t a, std::int64_t b) {
        return is_there(z, a, b) ? 20 + 15 * noise(b, z, a) : 0.0;
    };
    renderer().set_volume(grid, voxels(grid, some).data());
    View view = with(voxel_view(grid, 120, 100), "mode=points azimuth_deg=30 zoom=1 point_size=0.9");
    const std::vector<RayMeasure> rays = renderer().measure(view);
    const double diagonal = std::hypot(10.0, 12.0, 14.0);
    const double c = std::cos(std::numbers::pi / 6);
    const double s = 0.5;
    int hits = 0;
    for (std::int64_t y = 0; y < 100; ++y) {
        for (std::int64_t x = 0; x < 120; ++x) {
            const double right = (static_cast<double>(x) + 0.5 - 60) * diagonal / 100;
            const double down = (static_cast<double>(y) + 0.5 - 50) * diagonal / 100;
            double nearest = 1e9;
            double clearest = 1;  // distance of the nearest silhouette from the ray, in voxels
            for (std::int64_t z = 0; z < 10; ++z) {
                for (std::int64_t a = 0; a < 12; ++a) {
                    for (std::int64_t b = 0; b < 14; ++b) {
                        if (!is_there(z, a, b)) continue;
                        const double pz = static_cast<double>(z) - 4.5;
                        const double pa = static_cast<double>(a) - 5.5;
                        const double pb = static_cast<double>(b) - 6.5;
                        const double off = std::hypot(pz - down, pa * c + pb * s - right);
                        clearest = std::min(clearest, std::abs(off - 0.45));
                        if (off >= 0.45) continue;
                        nearest = std::min(nearest, diagonal + pb * c - pa * s - std::sqrt(0.45 * 0.45 - off * off));
                    }
                }
            }
            if (clearest < 0.005) continue;
            const RayMeasure& ray = rays[index(y * 120 + x)];
            EXPECT_EQ(ray.distance >= 0, nearest < 1e9) << x << " " << y;
            if (nearest > 1e8) continue;
            EXPECT_NEAR(ray.distance, nearest, 5e-3) << x << " " << y;
            ++hits;
        }
    }
    EXPECT_GT(hits, 1000);
}

}  // namespace
}  // namespace echolux::test
