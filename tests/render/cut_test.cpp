// Boxes, planes and heights remove exactly the right parts. Compares the lengths of rays inside the rest with clipping
// in double precision, with rays computed independently of the camera. Proportions follow the spacing.
#include <array>
#include <cmath>
#include <numbers>

#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

using Point = std::array<double, 3>;  // depth, A-scans, B-scans

constexpr Point extent{80, 120, 112};

Point turned(Point p, int i, int j, double degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    const double a = p[i];
    const double b = p[j];
    p[i] = a * std::cos(angle) - b * std::sin(angle);
    p[j] = a * std::sin(angle) + b * std::cos(angle);
    return p;
}

// Converts (right, up, towards the eye) to the volume's axes.
Point in_volume(const View& view, Point p) {
    p = turned(p, 0, 1, view.roll_deg);
    p = turned(p, 1, 2, -view.elevation_deg);
    p = turned(p, 0, 2, -view.azimuth_deg);
    return {-p[1], p[0], -p[2]};
}

struct Line {
    Point start, direction;
    double enter, leave;

    void keep_below(const Point& normal, double offset) {
        double slope = 0, excess = -offset;
        for (int i = 0; i < 3; ++i) {
            slope += normal[i] * direction[i];
            excess += normal[i] * start[i];
        }
        if (slope > 0) leave = std::min(leave, -excess / slope);
        if (slope < 0) enter = std::max(enter, -excess / slope);
        if (slope == 0 && excess > 0) leave = enter;
    }
    double path() const { return std::max(0.0, leave - enter); }
};

// Ray of a pixel through the whole volume. In perspective, the eye is at the distance where the volume's bounding
// sphere just fits.
Line line_of(const View& view, double x, double y) {
    const double radius = 0.5 * std::hypot(extent[0], extent[1], extent[2]);
    const double half = 0.5 * static_cast<double>(std::min(view.width, view.height)) * view.zoom;
    const double right = x - 0.5 * static_cast<double>(view.width);
    const double up = 0.5 * static_cast<double>(view.height) - y;
    Line line{{}, {}, 0, 1e9};
    if (view.projection == Projection::orthographic) {
        line.start = in_volume(view, {right * radius / half, up * radius / half, 2 * radius});
        line.direction = in_volume(view, {0, 0, -1});
    } else {
        const double angle = 0.5 * view.fov_deg * std::numbers::pi / 180;
        const double slope = std::tan(angle) / half;
        const double length = std::hypot(right * slope, up * slope, 1.0);
        line.start = in_volume(view, {0, 0, radius / std::sin(angle)});
        line.direction = in_volume(view, {right * slope / length, up * slope / length, -1 / length});
    }
    for (int axis = 0; axis < 3; ++axis) {
        Point normal{};
        normal[axis] = 1;
        line.keep_below(normal, 0.5 * extent[axis]);
        normal[axis] = -1;
        line.keep_below(normal, 0.5 * extent[axis]);
    }
    return line;
}

class Cutting : public SharedRendering {
  protected:
    void SetUp() override {
        VolumeGrid grid = db_grid(40, 40, 28);
        grid.spacing_um = {2, 3, 4};
        grid.first_depth_um = 100;
        renderer().set_volume(grid, voxels(grid, [](auto...) { return 0.0; }).data());
        set(view_, "width=48 height=40 roll_deg=10");
    }

    // `narrow` clips the given line as the view specifies, but with this test's own code.
    template <class Narrow>
    void expect_paths(const Narrow& narrow) {
        for (const Projection projection : {Projection::orthographic, Projection::perspective}) {
            for (const auto& [azimuth, elevation] :
                 {std::pair{0.0, 0.0}, {35.0, 25.0}, {-110.0, 60.0}, {200.0, 90.0}}) {
                view_.projection = projection;
                view_.azimuth_deg = azimuth;
                view_.elevation_deg = elevation;
                const std::vector<RayMeasure> rays = renderer().measure(view_);
                double cut_away = 0;
                for (std::size_t i = 0; i < rays.size(); ++i) {
                    const auto x = static_cast<double>(i % index(view_.width)) + 0.5;
                    const auto y = static_cast<double>(i / index(view_.width)) + 0.5;
                    Line line = line_of(view_, x, y);
                    const double whole = line.path();
                    narrow(line);
                    // Near an edge of the volume, rounding decides whether a ray hits it.
                    EXPECT_NEAR(rays[i].path, line.path(), 1e-4 * std::max(whole, 10.0)) << x << " " << y;
                    cut_away += whole - line.path();
                }
                EXPECT_GT(cut_away, 1000);  // the cut removed something visible
            }
        }
    }

    View view_;
};

TEST_F(Cutting, BoxKeepsInside) {
    set(view_, "clip_low=0.25,0,0.1 clip_high=1,0.7,0.8");
    expect_paths([](Line& line) {
        line.keep_below({-1, 0, 0}, 0.25 * extent[0]);
        line.keep_below({0, 1, 0}, 0.2 * extent[1]);
        line.keep_below({0, 0, -1}, 0.4 * extent[2]);
        line.keep_below({0, 0, 1}, 0.3 * extent[2]);
    });
}

TEST_F(Cutting, SixPlanesKeepTheirIntersection) {
    view_.clip_planes = {1, 1,  0, 5,  0,  2, 0, 70,  -1, 0,   -1,  50,  // normals of any length
                         0, -1, 1, 30, -3, 0, 0, 105, 0,  0.5, 0.5, 20};
    const double s = std::sqrt(0.5);
    expect_paths([s](Line& line) {
        line.keep_below({s, s, 0}, 5);
        line.keep_below({0, 1, 0}, 70);
        line.keep_below({-s, 0, -s}, 50);
        line.keep_below({0, -s, s}, 30);
        line.keep_below({-1, 0, 0}, 105);
        line.keep_below({0, s, s}, 20);
    });
}

TEST_F(Cutting, ConstantDepthsStartAtZeroDelay) {
    view_.top_um = 119;  // the centre of the first row is at 100, its upper side at 99
    view_.bottom_um = 159;
    expect_paths([](Line& line) {
        line.keep_below({-1, 0, 0}, 20);
        line.keep_below({1, 0, 0}, 20);
    });
}

TEST_F(Cutting, PlaneOutsideVolumeKeepsAllOrNone) {
    view_.clip_planes = {0, 0, 1, 1000};
    const auto total = [&] {
        double sum = 0;
        for (const RayMeasure& ray : renderer().measure(view_)) sum += static_cast<double>(ray.path);
        return sum;
    };
    const double kept = total();
    EXPECT_GT(kept, 1000);  // there was something to cut
    view_.clip_planes = {};
    EXPECT_EQ(kept, total());
    view_.clip_planes = {0, 0, 1, -1000};
    EXPECT_EQ(total(), 0);
}

struct Size {
    double x, y;
};

class Projected : public SharedRendering {
  protected:
    // Width and height of the volume's silhouette in pixels.
    Size silhouette(const View& view) {
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

    Size front_silhouette(const std::array<double, 3>& spacing_um) {
        VolumeGrid grid = db_grid(10, 20, 30);
        grid.spacing_um = spacing_um;
        renderer().set_volume(grid, voxels(grid, [](auto...) { return 1.0; }).data());
        View view = with(View{}, "projection=orthographic azimuth_deg=0 elevation_deg=0 width=400 height=400");
        return silhouette(view);
    }
};

TEST_F(Projected, ProportionsArePhysical) {
    const Size size = front_silhouette({8, 2, 1});  // 80 deep, 40 wide
    EXPECT_NEAR(size.y / size.x, 2, 0.03);
    const double diagonal = std::hypot(80.0, 40.0, 30.0);
    EXPECT_NEAR(size.y, 400 * 80 / diagonal, 1.5);
}

TEST_F(Projected, UnknownSpacingMakesVoxelsCubes) {
    const Size none = front_silhouette({0, 0, 0});
    EXPECT_NEAR(none.x, 2 * none.y, 2);  // tolerance: one pixel of height
    const Size depth_only = front_silhouette({3, 0, 0});
    EXPECT_NEAR(depth_only.x, 2 * depth_only.y, 2);
    const Size one_lateral = front_silhouette({1, 0, 3});  // unknown, so the spacing of B-scans is used for A-scans
    EXPECT_NEAR(one_lateral.x, 6 * one_lateral.y, 6);
}

}  // namespace
}  // namespace echolux::test
