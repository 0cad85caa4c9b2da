// Position and lighting of an isosurface, compared with geometry written here independently of the camera: a plane and
// a ball, in perspective and orthographic view, at an angle.
#include <array>
#include <cmath>
#include <numbers>

#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

using Vector = std::array<double, 3>;  // along depth, A-scans, B-scans, from the centre of the volume

Vector sum(const Vector& a, double factor, const Vector& b) {
    return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}
double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Vector unit(const Vector& a) {
    return sum({}, 1 / std::sqrt(dot(a, a)), a);
}

struct HostRay {
    Vector start, direction;
};

// At azimuth 0 the eye is at the near end of the B-scans, with A-scans to the right and depth down.
HostRay host_ray(const View& view, double radius, double column, double row) {
    const double az = view.azimuth_deg * std::numbers::pi / 180;
    const double el = view.elevation_deg * std::numbers::pi / 180;
    const Vector right{0, std::cos(az), std::sin(az)};
    const Vector level{0, std::sin(az), -std::cos(az)};
    const Vector towards = sum(sum({}, std::cos(el), level), std::sin(el), {-1, 0, 0});
    const Vector up = sum(sum({}, -std::sin(el), level), std::cos(el), {-1, 0, 0});
    const double x = column + 0.5 - 0.5 * static_cast<double>(view.width);
    const double y = row + 0.5 - 0.5 * static_cast<double>(view.height);
    const double half = 0.5 * static_cast<double>(std::min(view.width, view.height)) * view.zoom;
    if (view.projection == Projection::orthographic) {
        const double pixel = radius / half;
        const Vector on_plane = sum(sum({}, x * pixel, right), -y * pixel, up);
        return {sum(on_plane, 2 * radius, towards), sum({}, -1, towards)};
    }
    const double angle = 0.5 * view.fov_deg * std::numbers::pi / 180;
    const double slope = std::tan(angle) / half;
    const Vector start = sum({}, radius / std::sin(angle), towards);
    return {start, unit(sum(sum(sum({}, -1, towards), x * slope, right), -y * slope, up))};
}

constexpr std::int64_t edge = 64;
constexpr double ball_radius = 21;
const Vector tilt = unit({0.8, -0.45, 0.6});  // normal of the plane

Vector from_middle(std::int64_t z, std::int64_t a, std::int64_t b) {
    const auto offset = [](std::int64_t i) { return static_cast<double>(i) + 0.5 - 0.5 * edge; };
    return {offset(z), offset(a), offset(b)};
}

// 20 at the surface, changing by 2 per voxel inwards or outwards.
double ball_value(std::int64_t z, std::int64_t a, std::int64_t b) {
    const Vector p = from_middle(z, a, b);
    return std::clamp(20 + 2 * (ball_radius - std::sqrt(dot(p, p))), 0.0, 40.0);
}
double plane_value(std::int64_t z, std::int64_t a, std::int64_t b) {
    return std::clamp(20 + 2 * dot(tilt, from_middle(z, a, b)), 0.0, 40.0);
}

double ball_distance(const HostRay& ray) {
    const double nearest = -dot(ray.start, ray.direction);
    const double off = dot(ray.start, ray.start) - nearest * nearest;
    // Leaves out grazing rays, because a surface of trilinear voxels is not an exact sphere.
    return off < (ball_radius - 2) * (ball_radius - 2) ? nearest - std::sqrt(ball_radius * ball_radius - off) : -1;
}
double plane_distance(const HostRay& ray) {
    const double distance = -dot(tilt, ray.start) / dot(tilt, ray.direction);
    const Vector hit = sum(ray.start, distance, ray.direction);
    const double outermost = std::max({std::abs(hit[0]), std::abs(hit[1]), std::abs(hit[2])});
    return outermost < 0.5 * edge - 1 && dot(tilt, ray.direction) > 0.1 ? distance : -1;
}

class Surface : public SharedRendering {
  protected:
    View view_of(Projection projection, double azimuth_deg, double elevation_deg) {
        View view = with(View{}, "mode=isosurface isovalue=20 box=false width=90 height=80");
        view.projection = projection;
        view.azimuth_deg = azimuth_deg;
        view.elevation_deg = elevation_deg;
        return view;
    }

    HostRay ray_at(const View& view, std::int64_t i) {
        const auto [row, column] = std::div(i, view.width);
        return host_ray(view, radius_, static_cast<double>(column), static_cast<double>(row));
    }

    template <class Distance>
    void expect_distances(const ValueAt& value, const Distance& distance, double azimuth_deg, double elevation_deg) {
        for (const VoxelType type : {VoxelType::f32, VoxelType::u16}) {
            const VolumeGrid grid = db_grid(edge, edge, edge, type);
            renderer().set_volume(grid, voxels(grid, value).data());
            for (const Projection projection : {Projection::perspective, Projection::orthographic}) {
                const View view = view_of(projection, azimuth_deg, elevation_deg);
                const std::vector<RayMeasure> rays = renderer().measure(view);
                int compared = 0;
                for (std::int64_t i = 0; i < view.width * view.height; ++i) {
                    const double expected = distance(ray_at(view, i));
                    if (expected < 0) continue;
                    EXPECT_NEAR(rays[index(i)].distance, expected, 0.05) << "pixel " << i;
                    ++compared;
                }
                EXPECT_GT(compared, 400);
            }
        }
    }

    double radius_ = 0.5 * std::sqrt(3.0) * edge;
};

TEST_F(Surface, BallIsHitAtItsSurface) {
    expect_distances(ball_value, ball_distance, 0, 0);
    expect_distances(ball_value, ball_distance, 40, 30);
}

TEST_F(Surface, PlaneIsHitAtItsSurface) {
    expect_distances(plane_value, plane_distance, 20, 50);
    expect_distances(plane_value, plane_distance, 50, 35);
}

// The formula in docs/rendering.md for a white surface.
double shade(const Vector& normal, const Vector& to_eye, const Vector& to_lamp) {
    const double facing = std::max(dot(normal, to_lamp), 0.0);
    const double shine = std::max(dot(normal, unit(sum(to_eye, 1, to_lamp))), 0.0);
    return 0.25 + 0.65 * facing + 0.1 * std::pow(shine, 30);
}

class LitBall : public Surface {
  protected:
    // `to_lamp(ray)` returns the direction of the lamp.
    template <class ToLamp>
    void expect_shades(View view, const ToLamp& to_lamp) {
        const VolumeGrid grid = db_grid(edge, edge, edge);
        renderer().set_volume(grid, voxels(grid, ball_value).data());
        set(view, "preset=oct-gray low=0 high=40 lighting=false");
        const Image plain = renderer().render(view);
        set(view, "lighting=true lighting_strength=1");
        const Image image = renderer().render(view);
        const double trust = 2 / (2 + 0.04 * 40);  // for a slope of 2 per voxel in a range of 40
        int compared = 0;
        int darkest = 255;
        for (std::int64_t i = 0; i < view.width * view.height; ++i) {
            const HostRay ray = ray_at(view, i);
            const double distance = ball_distance(ray);
            if (distance < 0) continue;
            const Vector normal = unit(sum(ray.start, distance, ray.direction));
            const double colour = plain.pixels[index(4 * i)];
            const Vector to_eye = sum({}, -1, ray.direction);
            const double diffuse = shade(normal, to_eye, to_lamp(ray));
            const double shine = 0.1 * std::pow(std::max(dot(normal, unit(sum(to_eye, 1, to_lamp(ray)))), 0.0), 30);
            const double lit = colour * (diffuse - shine) + 255 * shine;
            const int found = image.pixels[index(4 * i)];
            EXPECT_NEAR(found, (1 - trust) * colour + trust * lit, 2.5) << "pixel " << i;
            darkest = std::min(darkest, found);
            ++compared;
        }
        EXPECT_GT(compared, 400);
        EXPECT_LT(darkest, 160);  // the brightest is 199
    }
};

TEST_F(LitBall, IsShadedByLampAtEye) {
    for (const Projection projection : {Projection::perspective, Projection::orthographic}) {
        expect_shades(view_of(projection, 40, 30), [](const HostRay& ray) { return sum({}, -1, ray.direction); });
    }
}

TEST_F(LitBall, IsShadedByFreeLamp) {
    View view = view_of(Projection::orthographic, 0, 0);
    view.lamp = Lamp::free;
    view.lamp_azimuth_deg = 90;  // from the right: along the A-scans
    view.lamp_elevation_deg = 0;
    expect_shades(view, [](const HostRay&) { return Vector{0, 1, 0}; });
    view.lamp_azimuth_deg = 0;
    view.lamp_elevation_deg = 90;  // from above: against the depth
    expect_shades(view, [](const HostRay&) { return Vector{-1, 0, 0}; });
    view.azimuth_deg = 90;  // the lamp stays with the eye
    set(view, "lamp_elevation_deg=0 lamp_azimuth_deg=-90");
    expect_shades(view, [](const HostRay&) { return Vector{0, 0, -1}; });
}

}  // namespace
}  // namespace echolux::test
