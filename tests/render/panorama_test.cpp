// Panoramic pictures: the direction of each pixel, compared with an independent formula of the projection; a
// sphere seen from its centre.
#include <cmath>
#include <glm/geometric.hpp>
#include <numbers>

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

class Panoramas : public SharedRendering {
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

}  // namespace
}  // namespace echolux::test
