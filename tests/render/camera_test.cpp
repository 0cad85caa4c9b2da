// Positions of points in the picture and the rays that reach them, camera control with the pointer, and the eye inside
// the volume.
#include "render/camera.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/geometric.hpp>

#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

const glm::dvec3 extent{300, 200, 250};

const std::array points{glm::dvec3{0, 0, 0}, glm::dvec3{140, -90, 100}, glm::dvec3{-60, 20, -120},
                        glm::dvec3{10, 95, -30}};

View some_view(Projection projection) {
    View view = sized_view(640, 480);
    set(view, "azimuth_deg=-50 elevation_deg=33 roll_deg=12 zoom=1.3 distance=0.8 target_um=20,-15,30");
    view.projection = projection;
    return view;
}

double distance_to_ray(const Camera& camera, const glm::dvec2& pixel, const glm::dvec3& point) {
    const Camera::Rays& rays = camera.rays();
    const glm::dvec3 start = rays.eye + pixel.x * rays.eye_x + pixel.y * rays.eye_y;
    const glm::dvec3 along = glm::normalize(rays.ray + pixel.x * rays.ray_x + pixel.y * rays.ray_y);
    return glm::length(glm::cross(point - start, along));
}

void expect_same_orientation(const Pose& a, const Pose& b, double within) {
    const Orientation one = orientation_of(a);
    const Orientation other = orientation_of(b);
    EXPECT_LT(glm::distance(one.right, other.right), within);
    EXPECT_LT(glm::distance(one.up, other.up), within);
    EXPECT_LT(glm::distance(one.towards, other.towards), within);
}

TEST(CameraRays, PassThroughPointsOfTheirPixels) {
    for (const Projection projection : {Projection::perspective, Projection::orthographic}) {
        const Camera camera(some_view(projection), extent);
        for (const glm::dvec3& point : points) {
            EXPECT_LT(distance_to_ray(camera, camera.project(point), point), 1e-9);
            EXPECT_GT(distance_to_ray(camera, camera.project(point) + glm::dvec2(1, 0), point), 0.1);
        }
    }
}

TEST(CameraRays, TargetIsInCentre) {
    for (const Projection projection : {Projection::perspective, Projection::orthographic}) {
        const Camera camera(some_view(projection), extent);
        EXPECT_LT(glm::length(camera.project({20, -15, 30})), 1e-9);
        EXPECT_NEAR(camera.depth_of({20, -15, 30}), glm::distance(camera.eye(), glm::dvec3(20, -15, 30)), 1e-9);
    }
}

TEST(CameraAngles, RoundTripForEveryOrientation) {
    for (const double azimuth : {-170.0, -35.0, 0.0, 90.0, 180.0}) {
        for (const double elevation : {-90.0, -89.9999, -20.0, 0.0, 45.0, 90.0, 120.0}) {
            for (const double roll : {-100.0, 0.0, 5.0, 179.0}) {
                Pose pose;
                pose.azimuth_deg = azimuth;
                pose.elevation_deg = elevation;
                pose.roll_deg = roll;
                const Angles angles = angles_of(orientation_of(pose), azimuth);
                Pose again;
                again.azimuth_deg = angles.azimuth_deg;
                again.elevation_deg = angles.elevation_deg;
                again.roll_deg = angles.roll_deg;
                expect_same_orientation(pose, again, 2e-9);
            }
        }
    }
}

TEST(CameraAngles, NamedLooksFaceTheirDirection) {
    const auto towards = [](Look look) {
        Pose pose;
        pose.look = look;
        return orientation_of(pose).towards;
    };
    EXPECT_LT(glm::distance(towards(Look::front), glm::dvec3(0, 0, -1)), 1e-12);
    EXPECT_LT(glm::distance(towards(Look::back), glm::dvec3(0, 0, 1)), 1e-12);
    EXPECT_LT(glm::distance(towards(Look::left), glm::dvec3(0, -1, 0)), 1e-12);
    EXPECT_LT(glm::distance(towards(Look::right), glm::dvec3(0, 1, 0)), 1e-12);
    EXPECT_LT(glm::distance(towards(Look::top), glm::dvec3(-1, 0, 0)), 1e-12);
    EXPECT_LT(glm::distance(towards(Look::bottom), glm::dvec3(1, 0, 0)), 1e-12);
    Pose top;
    top.look = Look::top;
    EXPECT_LT(glm::distance(orientation_of(top).up, glm::dvec3(0, 0, 1)), 1e-12);  // B-scans point upwards
}

TEST(CameraMotion, OrbitForthAndBackRestoresViewAcrossPoles) {
    for (const glm::dvec2 step : {glm::dvec2{37, 0}, glm::dvec2{0, 300}, glm::dvec2{-120, 410}}) {
        View view = some_view(Projection::perspective);
        view.elevation_deg = 80;
        const View there = orbited(view, step);
        EXPECT_GT(glm::distance(orientation_of(there).towards, orientation_of(view).towards), 0.1);
        const View back = orbited(there, -step);
        expect_same_orientation(back, view, 1e-9);
        EXPECT_NEAR(back.elevation_deg, view.elevation_deg, 1e-7);
        EXPECT_NEAR(back.azimuth_deg, view.azimuth_deg, 1e-7);
        EXPECT_NEAR(back.roll_deg, view.roll_deg, 1e-7);
    }
}

TEST(CameraMotion, OrbitCrossesPoleWithoutJump) {
    View view = some_view(Projection::orthographic);
    view.roll_deg = 0;
    for (int i = 0; i < 200; ++i) {
        const View next = orbited(view, {0, 5});
        const double angle = 5 / 240.0;
        EXPECT_NEAR(glm::distance(orientation_of(next).towards, orientation_of(view).towards),
                    2 * std::sin(0.5 * angle), 1e-9);
        EXPECT_LT(glm::distance(orientation_of(next).right, orientation_of(view).right), 1e-9);
        view = next;
    }
}

TEST(CameraMotion, NearPartsFollowOrbitingPointer) {
    View view = some_view(Projection::perspective);
    view.target_um = {0, 0, 0};
    const glm::dvec3 near = 50.0 * orientation_of(view).towards;
    EXPECT_GT(Camera(orbited(view, {30, 0}), extent).project(near).x, 1);
    EXPECT_GT(Camera(orbited(view, {0, 30}), extent).project(near).y, 1);
}

TEST(CameraMotion, PanMovesTargetByPixels) {
    for (const Projection projection : {Projection::perspective, Projection::orthographic}) {
        const View view = some_view(projection);
        const Camera camera(panned(view, {31, -17}, extent), extent);
        EXPECT_LT(glm::distance(camera.project({20, -15, 30}), glm::dvec2(31, -17)), 1e-9);
    }
}

TEST(CameraMotion, DollyKeepsPointUnderPointer) {
    for (const Projection projection : {Projection::perspective, Projection::orthographic}) {
        const View view = some_view(projection);
        const glm::dvec2 at{120, -75};
        const Camera before(view, extent);
        const glm::dvec3 point =
            glm::dvec3(20, -15, 30) +
            before.length_per_pixel() * (at.x * before.orientation().right - at.y * before.orientation().up);
        ASSERT_LT(glm::distance(before.project(point), at), 1e-9);
        const Camera after(dollied(view, 1.7, at, extent), extent);
        EXPECT_LT(glm::distance(after.project(point), at), 1e-9);
        EXPECT_NEAR(before.length_per_pixel() / after.length_per_pixel(), 1.7, 1e-9);
    }
}

TEST(CameraMotion, LookingKeepsEyeAndFlyingKeepsDirection) {
    const View view = some_view(Projection::perspective);
    const Camera before(view, extent);
    const View looking = looked(view, 20, 0, extent);
    EXPECT_LT(glm::distance(Camera(looking, extent).eye(), before.eye()), 1e-9);
    const glm::dvec3 ahead = -orientation_of(looking).towards;
    EXPECT_NEAR(glm::dot(ahead, before.orientation().right), std::sin(20 * 3.14159265358979 / 180), 1e-9);
    EXPECT_NEAR(glm::dot(-orientation_of(looked(view, 0, 20, extent)).towards, before.orientation().up),
                std::sin(20 * 3.14159265358979 / 180), 1e-9);

    const View going = moved(view, {1, 2, 30}, extent);
    expect_same_orientation(going, view, 1e-12);
    const glm::dvec3 way = Camera(going, extent).eye() - before.eye();
    EXPECT_NEAR(glm::dot(way, before.orientation().right), 1, 1e-9);
    EXPECT_NEAR(glm::dot(way, before.orientation().up), 2, 1e-9);
    EXPECT_NEAR(glm::dot(way, -before.orientation().towards), 30, 1e-9);
}

// Largest distance of a corner from the centre, relative to the margin of the picture.
double filled(const View& view) {
    const Camera camera(view, extent);
    double most = 0;
    for (int corner = 0; corner < 8; ++corner) {
        const glm::dvec3 side((corner & 1) - 0.5, (corner / 2 % 2) - 0.5, (corner / 4) - 0.5);
        const glm::dvec2 pixel = camera.project(side * extent);
        most = std::max({most, std::abs(pixel.x) / 320, std::abs(pixel.y) / 240});
    }
    return most;
}

TEST(CameraMotion, FittedVolumeFillsPictureExactly) {
    for (const Projection projection : {Projection::perspective, Projection::orthographic}) {
        const View view = fitted(some_view(projection), extent);
        EXPECT_FALSE(view.fit);
        EXPECT_NEAR(filled(view), 1 / 1.04, 1e-9);
        View same = with(view, "fit=true zoom=1");
        EXPECT_NEAR(filled(same), 1 / 1.04, 1e-9);
        EXPECT_NEAR(filled(panned(same, {0, 0}, extent)), 1 / 1.04, 1e-9);
    }
}

TEST(CameraLines, AreClippedAtEye) {
    View view = with(View{}, "projection=perspective azimuth_deg=0 elevation_deg=0");
    view.distance = 0;  // the eye is in the centre and looks along the B-scans
    const Camera camera(view, extent);
    EXPECT_FALSE(camera.project_line({10, 0, -5}, {10, 0, -100}));
    const auto line = camera.project_line({10, 0, -100}, {10, 0, 100});
    ASSERT_TRUE(line);
    EXPECT_LT(glm::distance(line->to, camera.project({10, 0, 100})), 1e-9);
    EXPECT_GT(line->from.y, 1000 * line->to.y);  // clipped close to the plane of the eye
    for (int axis = 0; axis < 3; ++axis) {
        EXPECT_FALSE(camera.faces(axis, -1));
        EXPECT_FALSE(camera.faces(axis, 1));
    }
}

class EyeInside : public Rendering {};

TEST_F(EyeInside, SeesHalfInFrontOfIt) {
    VolumeGrid grid = db_grid(20, 24, 32);
    grid.spacing_um = {2, 2, 2};
    renderer().set_volume(grid, voxels(grid, [](auto...) { return 20.0; }).data());
    View view = with(View{}, "azimuth_deg=0 elevation_deg=0 distance=0 target_um=0,0,10 width=33 height=33");
    EXPECT_NEAR(renderer().measure(view)[16 * 33 + 16].path, 32 - 10, 1e-3);
    view.near_um = 5;
    EXPECT_NEAR(renderer().measure(view)[16 * 33 + 16].path, 32 - 10 - 5, 1e-3);
    set(view, "near_um=0 azimuth_deg=180");
    EXPECT_NEAR(renderer().measure(view)[16 * 33 + 16].path, 32 + 10, 1e-3);
}

TEST_F(EyeInside, NearPlaneCutsOrthographicViews) {
    const VolumeGrid grid = db_grid(20, 24, 32);
    renderer().set_volume(grid, voxels(grid, [](auto...) { return 20.0; }).data());
    View view = voxel_view(grid, 24, 20);
    view.distance = 0;
    for (const RayMeasure& ray : renderer().measure(view)) EXPECT_NEAR(ray.path, 16, 1e-3);
    view.near_um = 6;
    for (const RayMeasure& ray : renderer().measure(view)) EXPECT_NEAR(ray.path, 10, 1e-3);
}

}  // namespace
}  // namespace echolux::test
