// Positions in the picture, compared with rotations written here independently of the camera.
#include <array>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"
#include "rendering.h"

namespace echolux::test {
namespace {

using Point = std::array<double, 3>;

double radians(double degrees) {
    return degrees * std::numbers::pi / 180;
}

// Turns the coordinates i and j like a rotation matrix in the plane of two axes.
Point turned(Point p, int i, int j, double angle) {
    const double a = p[i];
    const double b = p[j];
    p[i] = a * std::cos(angle) - b * std::sin(angle);
    p[j] = a * std::sin(angle) + b * std::cos(angle);
    return p;
}

// Returns (right, up, towards the eye) of a point given as (depth, A-scans, B-scans) from the centre. The world turns
// in the opposite direction of the eye.
Point seen(const View& view, const Point& along) {
    Point p{along[1], -along[0], -along[2]};
    p = turned(p, 0, 2, radians(view.azimuth_deg));
    p = turned(p, 1, 2, radians(view.elevation_deg));
    return turned(p, 0, 1, -radians(view.roll_deg));
}

struct Pixel {
    double x, y;
};

// Position from the corner of the picture. `radius` is half the diagonal of the volume, which just fits at zoom 1.
Pixel predicted(const View& view, const Point& along, double radius) {
    const Point p = seen(view, along);
    const double half = 0.5 * static_cast<double>(std::min(view.width, view.height)) * view.zoom;
    double scale = half / radius;
    if (view.projection == Projection::perspective) {
        const double angle = radians(view.fov_deg) / 2;
        scale = half / std::tan(angle) / (radius / std::sin(angle) - p[2]);
    }
    return {0.5 * static_cast<double>(view.width) + scale * p[0],
            0.5 * static_cast<double>(view.height) - scale * p[1]};
}

Pixel centre_of_light(const View& view, const std::vector<RayMeasure>& rays) {
    double sum = 0;
    Pixel centre{0, 0};
    for (std::int64_t y = 0; y < view.height; ++y) {
        for (std::int64_t x = 0; x < view.width; ++x) {
            const double light = rays[index(y * view.width + x)].value;
            sum += light;
            centre.x += light * (static_cast<double>(x) + 0.5);
            centre.y += light * (static_cast<double>(y) + 0.5);
        }
    }
    return {centre.x / sum, centre.y / sum};
}

struct Angles {
    double azimuth, elevation, roll;
};
constexpr std::array angles{Angles{0, 0, 0},     Angles{90, 0, 0},    Angles{0, 90, 0},    Angles{35, 25, 0},
                            Angles{-60, 40, 15}, Angles{160, -30, 0}, Angles{225, 70, -80}};

class Projected : public Rendering {
  protected:
    void expect_voxel_on_predicted_pixels(Projection projection, ViewMode mode = ViewMode::mip) {
        VolumeGrid grid = db_grid(24, 28, 32);
        grid.spacing_um = {2, 3, 2.5};
        const auto bright = [](std::int64_t z, std::int64_t a, std::int64_t b) {
            return z == 4 && a == 20 && b == 9 ? 40.0 : 0.0;
        };
        renderer().set_volume(grid, voxels(grid, bright).data());
        const Point along{(4.5 - 12) * 2, (20.5 - 14) * 3, (9.5 - 16) * 2.5};
        const double radius = 0.5 * std::hypot(24 * 2.0, 28 * 3.0, 32 * 2.5);
        View view;
        view.mode = mode;
        view.projection = projection;
        const std::int64_t finer = mode == ViewMode::points ? 4 : 1;  // all pixels of a ball have the same value
        const double tolerance = finer == 1 ? 0.15 : 0.25;
        view.width = 240 * finer;
        view.height = 200 * finer;
        view.step = 0.25;
        for (const Angles& a : angles) {
            view.azimuth_deg = a.azimuth;
            view.elevation_deg = a.elevation;
            view.roll_deg = a.roll;
            const Pixel expected = predicted(view, along, radius);
            const Pixel found = centre_of_light(view, renderer().measure(view));
            EXPECT_NEAR(found.x, expected.x, tolerance) << a.azimuth << " " << a.elevation << " " << a.roll;
            EXPECT_NEAR(found.y, expected.y, tolerance) << a.azimuth << " " << a.elevation << " " << a.roll;
        }
    }

    // Width and height of the volume's silhouette in pixels.
    Pixel silhouette(const View& view) {
        const std::vector<RayMeasure> rays = renderer().measure(view);
        std::int64_t left = view.width, right = -1, top = view.height, bottom = -1;
        for (std::int64_t y = 0; y < view.height; ++y) {
            for (std::int64_t x = 0; x < view.width; ++x) {
                if (rays[index(y * view.width + x)].path <= 0) continue;
                left = std::min(left, x), right = std::max(right, x);
                top = std::min(top, y), bottom = std::max(bottom, y);
            }
        }
        return {static_cast<double>(right - left + 1), static_cast<double>(bottom - top + 1)};
    }

    Pixel front_silhouette(const std::array<double, 3>& spacing_um) {
        VolumeGrid grid = db_grid(10, 20, 30);
        grid.spacing_um = spacing_um;
        renderer().set_volume(grid, voxels(grid, [](auto...) { return 1.0; }).data());
        View view;
        view.projection = Projection::orthographic;
        view.azimuth_deg = view.elevation_deg = 0;
        view.width = view.height = 400;
        return silhouette(view);
    }
};

TEST_F(Projected, VoxelLandsOnPredictedPixelInPerspective) {
    expect_voxel_on_predicted_pixels(Projection::perspective);
}

TEST_F(Projected, VoxelLandsOnPredictedPixelInOrthographicView) {
    expect_voxel_on_predicted_pixels(Projection::orthographic);
}

TEST_F(Projected, SlowPointLandsOnPredictedPixel) {
    expect_voxel_on_predicted_pixels(Projection::perspective, ViewMode::points);
    expect_voxel_on_predicted_pixels(Projection::orthographic, ViewMode::points);
}

TEST_F(Projected, ProportionsArePhysical) {
    const Pixel size = front_silhouette({8, 2, 1});  // 80 deep, 40 wide
    EXPECT_NEAR(size.y / size.x, 2, 0.03);
    const double diagonal = std::hypot(80.0, 40.0, 30.0);
    EXPECT_NEAR(size.y, 400 * 80 / diagonal, 1.5);
}

TEST_F(Projected, UnknownSpacingMakesVoxelsCubes) {
    const Pixel none = front_silhouette({0, 0, 0});
    EXPECT_NEAR(none.x, 2 * none.y, 2);  // tolerance: one pixel of height
    const Pixel depth_only = front_silhouette({3, 0, 0});
    EXPECT_NEAR(depth_only.x, 2 * depth_only.y, 2);
    const Pixel one_lateral = front_silhouette({1, 0, 3});  // unknown, so the spacing of B-scans is used for A-scans
    EXPECT_NEAR(one_lateral.x, 6 * one_lateral.y, 6);
}

TEST_F(Projected, ZoomEnlarges) {
    VolumeGrid grid = db_grid(8, 8, 8);
    renderer().set_volume(grid, voxels(grid, [](auto...) { return 1.0; }).data());
    View view;
    view.width = view.height = 300;
    const Pixel whole = silhouette(view);
    view.zoom = 0.5;
    EXPECT_NEAR(silhouette(view).x, 0.5 * whole.x, 1.5);
}

}  // namespace
}  // namespace echolux::test
