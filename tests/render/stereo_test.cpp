// Stereo pictures: positions of points, and each eye's part equals the picture of that eye. Panoramas: the direction
// of each pixel.
#include "render/camera.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <glm/geometric.hpp>
#include <numbers>

#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

constexpr std::size_t channels = 4;

class StereoPictures : public SharedRendering {
  protected:
    void SetUp() override {
        const VolumeGrid grid = db_grid(24, 24, 24);
        renderer().set_volume(grid, voxels(grid, [](auto z, auto a, auto b) { return 40 * noise(z, a, b); }).data());
        set(view_, "preset=tissue low=0 high=40 width=96");
        view_.height = 200;  // several bands
        view_.eyes_apart = 0.1;
    }

    Image of_eye(double eye) {
        View view = view_;
        view.eye = eye;
        return renderer().render(view);
    }

    View view_;
};

TEST(StereoRays, PassThroughPointsOfTheirPixels) {
    const glm::dvec3 extent{300, 200, 250};
    for (const Projection projection : {Projection::perspective, Projection::orthographic}) {
        View view = with(View{}, "roll_deg=20 target_um=20,-15,30 eyes_apart=0.2");
        view.projection = projection;
        for (const double eye : {-0.5, 0.5}) {
            view.eye = eye;
            const Camera camera(view, extent);
            const Camera::Rays& rays = camera.rays();
            for (const glm::dvec3 point : {glm::dvec3{0, 0, 0}, glm::dvec3{140, -90, 100}, glm::dvec3{-60, 20, -120}}) {
                const glm::dvec2 pixel = camera.project(point);
                const glm::dvec3 start = rays.eye + pixel.x * rays.eye_x + pixel.y * rays.eye_y;
                const glm::dvec3 along = glm::normalize(rays.ray + pixel.x * rays.ray_x + pixel.y * rays.ray_y);
                EXPECT_LT(glm::length(glm::cross(point - start, along)), 1e-9);
            }
        }
    }
}

// The target is in the plane of the picture. A point at half its distance is displaced by the distance of the eyes.
TEST(StereoRays, DisplacePointsByDistanceFromTarget) {
    View view = with(View{}, "look=front eyes_apart=0.1");
    const glm::dvec3 extent{300, 300, 300};
    View left = view, right = view;
    left.eye = -0.5;
    right.eye = 0.5;
    const Camera middle(view, extent), of_left(left, extent), of_right(right, extent);
    EXPECT_LT(glm::length(of_left.project({0, 0, 0})), 1e-9);
    EXPECT_LT(glm::length(of_right.project({0, 0, 0})), 1e-9);
    const double distance = glm::length(middle.eye());
    const glm::dvec3 near_one = 0.5 * middle.eye();
    const double displaced = (of_left.project(near_one) - of_right.project(near_one)).x;
    EXPECT_NEAR(displaced * middle.length_per_pixel(), 0.1 * distance, 1e-9 * distance);
    EXPECT_NEAR(glm::distance(of_left.eye(), of_right.eye()), 0.1 * distance, 1e-9 * distance);
}

TEST_F(StereoPictures, HalvesEqualViewsOfEyes) {
    const Image left = of_eye(-0.5), right = of_eye(0.5);
    ASSERT_NE(left.pixels, right.pixels);
    View both = view_;
    both.stereo = Stereo::side_by_side;
    both.width = 2 * view_.width;
    const Image rendered = renderer().render(both);
    EXPECT_EQ(renderer().begin(both)().pixels, rendered.pixels);
    ASSERT_EQ(rendered.width, both.width);
    const std::size_t bytes = channels * index(view_.width);
    for (std::size_t row = 0; row < index(view_.height); ++row) {
        const auto at = rendered.pixels.begin() + static_cast<std::ptrdiff_t>(2 * row * bytes);
        const auto of_row = static_cast<std::ptrdiff_t>(row * bytes);
        ASSERT_TRUE(std::equal(at, at + static_cast<std::ptrdiff_t>(bytes), left.pixels.begin() + of_row)) << row;
        ASSERT_TRUE(std::equal(at + static_cast<std::ptrdiff_t>(bytes), at + static_cast<std::ptrdiff_t>(2 * bytes),
                               right.pixels.begin() + of_row))
            << row;
    }
}

TEST_F(StereoPictures, AnaglyphsStoreLuminanceOfLeftEyeInRed) {
    view_.transparent = true;
    const Image left = of_eye(-0.5), right = of_eye(0.5);
    View both = view_;
    both.stereo = Stereo::anaglyph;
    const Image rendered = renderer().render(both);
    EXPECT_EQ(renderer().begin(both)().pixels, rendered.pixels);
    ASSERT_EQ(rendered.pixels.size(), left.pixels.size());
    for (std::size_t i = 0; i < rendered.pixels.size(); i += channels) {
        const std::uint8_t* l = &left.pixels[i];
        const std::uint8_t* r = &right.pixels[i];
        const double luminance = 0.299 * l[0] + 0.587 * l[1] + 0.114 * l[2];
        ASSERT_NEAR(rendered.pixels[i], luminance, 0.5 + 1e-9);
        ASSERT_EQ(rendered.pixels[i + 1], r[1]);
        ASSERT_EQ(rendered.pixels[i + 2], r[2]);
        ASSERT_EQ(rendered.pixels[i + 3], std::max(l[3], r[3]));
    }
}

// ---- panoramas ------------------------------------------------------------------------------------------------------

constexpr double pi = std::numbers::pi;
constexpr std::int64_t columns = 64, rows = 32;

View around_view() {
    View view = with(View{}, "projection=panorama look=front distance=0 box=false low=0 high=40 preset=tissue");
    view.width = columns;
    view.height = rows;
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
    View view = with(around_view(), "mode=isosurface isovalue=30 step=0.25");
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
