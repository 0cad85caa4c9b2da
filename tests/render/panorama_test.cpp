// Panoramic pictures: the direction of each pixel, compared with an independent formula of the projection; continuity
// of the left and right edge; a sphere seen from its centre.
#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <numbers>

#include "compute/error.h"
#include "compute/indexing.h"
#include "render/camera.h"
#include "rendering.h"

namespace echolux::test {
namespace {

constexpr double pi = std::numbers::pi;
constexpr std::int64_t columns = 64, rows = 32;

View around_view() {
    View view;
    view.projection = Projection::panorama;
    view.look = Look::front;
    view.distance = 0;
    view.width = columns;
    view.height = rows;
    view.box = false;
    view.low = 0;
    view.high = 40;
    view.preset = "tissue";
    return view;
}

// From the front along the B-scans, A-scans to the right, depth down.
glm::dvec3 direction_of(double column, double row) {
    const double longitude = 2 * pi * (column + 0.5) / double{columns} - pi;
    const double latitude = 0.5 * pi - pi * (row + 0.5) / double{rows};
    return {-std::sin(latitude), std::cos(latitude) * std::sin(longitude), std::cos(latitude) * std::cos(longitude)};
}

TEST(PanoramaRays, FollowLongitudeAndLatitude) {
    const Camera camera(around_view(), {300, 200, 250});
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            const glm::dvec2 pixel(column + 0.5 - 0.5 * columns, row + 0.5 - 0.5 * rows);
            const auto [start, unit] = camera.ray_at(pixel);
            EXPECT_LT(glm::length(start), 1e-9);
            ASSERT_LT(glm::distance(unit, direction_of(column, row)), 1e-12) << column << " " << row;
            ASSERT_LT(glm::distance(camera.project(77.0 * unit), pixel), 1e-9);
        }
    }
}

class Panoramas : public Rendering {
  protected:
    // A value that increases from the centre outwards by 2 per voxel.
    void set_hollow(std::int64_t edge) {
        const VolumeGrid grid = db_grid(edge, edge, edge);
        const double middle = 0.5 * static_cast<double>(edge - 1);
        renderer().set_volume(grid, voxels(grid, [=](auto z, auto a, auto b) {
                                        return 2 *
                                               std::hypot(double(z) - middle, double(a) - middle, double(b) - middle);
                                    }).data());
    }
};

// The sphere has the same distance in all directions, and each pixel hits it in its direction.
TEST_F(Panoramas, SphereIsEquallyFarFromCentre) {
    set_hollow(48);
    View view = around_view();
    view.mode = ViewMode::isosurface;
    view.isovalue = 30;
    view.step = 0.25;
    const std::vector<RayMeasure> measures = renderer().measure(view);
    ASSERT_EQ(measures.size(), std::size_t{columns * rows});
    for (std::size_t i = 0; i < measures.size(); ++i) {
        ASSERT_NEAR(measures[i].distance, 15, 0.03) << i;
        const glm::dvec3 met = 24.0 + 15.0 * direction_of(double(i % columns), double(i / columns));
        for (int axis = 0; axis < 3; ++axis) ASSERT_NEAR(measures[i].voxel[index(axis)] + 0.5, met[axis], 0.55) << i;
    }
}

// Turning the eye by whole columns shifts the picture by the same number, also across its edge.
TEST_F(Panoramas, ContinueAcrossEdge) {
    const VolumeGrid grid = db_grid(40, 40, 40);
    renderer().set_volume(grid, voxels(grid, [](auto z, auto a, auto b) {
                                    return 20 + 15 * std::sin(0.5 * double(z)) * std::cos(0.4 * double(a)) *
                                                    std::sin(0.3 * double(b));
                                }).data());
    View view = around_view();
    view.look = Look::free;
    view.azimuth_deg = view.elevation_deg = 0;
    const Image still = renderer().render(view);
    constexpr std::int64_t moved = 20;
    view.azimuth_deg = 360.0 * moved / columns;
    const Image turned = renderer().render(view);
    ASSERT_NE(still.pixels, turned.pixels);
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
            const auto at = index(4 * (row * columns + column));
            const auto from = index(4 * (row * columns + (column + columns - moved) % columns));
            for (std::size_t c = 0; c < 3; ++c)
                ASSERT_NEAR(turned.pixels[at + c], still.pixels[from + c], 2) << column << " " << row;
        }
    }
}

// Path tracing starts along the same rays.
TEST_F(Panoramas, SlowTracingMatchesCasting) {
    set_hollow(32);
    View view = around_view();
    view.transparent = true;
    view.lighting = false;
    view.low = 10;
    view.high = 30;
    const Image cast = renderer().render(view);
    view.mode = ViewMode::traced;
    view.paths = 64;
    view.noise_target = 0;
    view.denoise = false;
    const Image traced = renderer().render(view);
    double cast_sum = 0, traced_sum = 0;
    for (std::size_t i = 3; i < cast.pixels.size(); i += 4) {
        cast_sum += cast.pixels[i];
        traced_sum += traced.pixels[i];
    }
    EXPECT_GT(cast_sum, 0);
    EXPECT_NEAR(traced_sum / cast_sum, 1, 0.01);
}

// A corner of the box is at its projection, and so is the point halfway to the next corner.
TEST_F(Panoramas, DrawBoxLines) {
    const VolumeGrid grid = db_grid(20, 20, 20);
    renderer().set_volume(grid, voxels(grid, [](auto...) { return -10; }).data());
    View view = around_view();
    view.box = true;
    view.background = {0, 0, 0};
    view.width = 256;
    view.height = 128;
    const Image image = renderer().render(view);
    const Camera camera(view, volume_extent(grid));
    for (const glm::dvec3 place :
         {glm::dvec3{-10, 10, 10}, glm::dvec3{10, -10, 10}, glm::dvec3{0, 10, -10}, glm::dvec3{-10, 0, -10}}) {
        const glm::dvec2 at = camera.project(place) + glm::dvec2(128, 64);
        const auto pixel = index(4 * (std::int64_t(at.y) * 256 + std::min<std::int64_t>(std::int64_t(at.x), 255)));
        EXPECT_GT(image.pixels[pixel], 20) << place.x << place.y << place.z;
    }
    EXPECT_EQ(image.pixels[4 * (64 * 256 + 128)], 0);
}

TEST_F(Panoramas, MayBeOfAnySize) {
    set_hollow(16);
    View view = around_view();
    view.width = view.height = 1;
    EXPECT_EQ(renderer().render(view).pixels.size(), 4U);
}

TEST(PanoramaViews, RejectStereo) {
    View view = around_view();
    check_view(view);
    view.stereo = Stereo::anaglyph;
    EXPECT_THROW(check_view(view), Error);
}

}  // namespace
}  // namespace echolux::test
