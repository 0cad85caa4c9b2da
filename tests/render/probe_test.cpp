// The probe in scenes with known answers.
#include <gmock/gmock.h>

#include <cmath>
#include <glm/geometric.hpp>

#include "render/camera.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

constexpr std::int64_t edge = 80;
constexpr double middle = 39.5;  // index of the volume's centre

glm::dvec3 vector_of(const std::array<double, 3>& v) {
    return {v[0], v[1], v[2]};
}

class Probing : public SharedRendering {
  protected:
    void show(const VolumeGrid& grid, const ValueAt& value) {
        grid_ = grid;
        renderer().set_volume(grid, voxels(grid, value).data());
        view_ = voxel_view(grid, 120, 100);
        set(view_, "preset=gray low=0 high=40");
    }

    void look_obliquely_in_perspective() {
        set(view_, "projection=perspective zoom=1 azimuth_deg=25 elevation_deg=40 roll_deg=10");
    }

    // The ray of a pixel in voxels from the first one; spacing is 1.
    std::pair<glm::dvec3, glm::dvec3> ray(std::int64_t x, std::int64_t y) const {
        const Camera camera(view_, volume_extent(grid_));
        const auto& rays = camera.rays();
        const double right = static_cast<double>(x) + 0.5 - 60;
        const double down = static_cast<double>(y) + 0.5 - 50;
        const glm::dvec3 start = rays.eye + right * rays.eye_x + down * rays.eye_y;
        return {start + middle, glm::normalize(rays.ray + right * rays.ray_x + down * rays.ray_y)};
    }

    VolumeGrid grid_;
    View view_;
};

class ProbedBall : public Probing {
  protected:
    static constexpr double radius = 36;

    void SetUp() override {
        show(db_grid(edge, edge, edge), ball(db_grid(edge, edge, edge), radius));
        view_.mode = ViewMode::isosurface;
        view_.isovalue = 10;  // a sphere of three quarters of the radius
    }

    void expect_the_sphere(std::int64_t x, std::int64_t y) {
        const auto probe = renderer().probe(view_, x, y);
        const auto [start, unit] = ray(x, y);
        const glm::dvec3 centre(middle);
        const double nearest = glm::dot(centre - start, unit);
        const double off = glm::length(start + nearest * unit - centre);
        const double sphere = 0.75 * radius;
        ASSERT_EQ(probe.has_value(), off < sphere) << x << ", " << y;
        if (!probe) return;
        const glm::dvec3 hit = start + (nearest - std::sqrt(sphere * sphere - off * off)) * unit;
        EXPECT_LT(glm::length(vector_of(probe->index) - hit), 0.05) << x << ", " << y;
        EXPECT_GT(glm::dot(vector_of(probe->normal), (hit - centre) / sphere), 0.999);
        const auto [z, a, b] = probe->voxel;
        EXPECT_EQ(probe->value, static_cast<float>(ball(grid_, radius)(z, a, b)));
        EXPECT_EQ(probe->unit, "dB above noise floor");
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_LE(std::abs(probe->index[i] - static_cast<double>(probe->voxel[i])), 0.501);
            EXPECT_DOUBLE_EQ(probe->place_um[i], probe->index[i]);
        }
        EXPECT_NEAR(probe->distance_um, glm::dot(hit - start, unit), 0.05);
    }
};

TEST_F(ProbedBall, IsHitWhereRayMeetsSphere) {
    for (const auto& [x, y] : {std::pair{60, 50}, {71, 38}, {45, 60}, {60, 30}, {2, 3}}) expect_the_sphere(x, y);
    look_obliquely_in_perspective();
    for (const auto& [x, y] : {std::pair{60, 50}, {74, 44}, {44, 66}, {70, 62}, {119, 99}}) expect_the_sphere(x, y);
}

TEST_F(ProbedBall, ReportsPositionsInMicrometres) {
    VolumeGrid grid = grid_;
    grid.spacing_um = {2, 2, 2};
    show(grid, ball(grid, radius));
    set(view_, "mode=isosurface isovalue=10");
    const auto probe = renderer().probe(view_, 60, 50);
    ASSERT_TRUE(probe);
    EXPECT_TRUE(probe->has_spacing);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(probe->place_um[i], 2 * probe->index[i], 1e-9);
    EXPECT_NEAR(probe->index[2], middle - 0.75 * radius, 0.05);
}

// A block with a flat top: 40 from the row `top` on, nothing above it, and interpolated values between them.
constexpr std::int64_t top = 30;

double block(std::int64_t z, std::int64_t, std::int64_t) {
    return z >= top ? 40 : 0;
}

// Depth at which the ramp at the top of the block has absorbed a quarter of the light, in rows after row top - 1. The
// curve of the preset gray rises from 0 at level 0.1 to 32 per depth at level 0.5.
double quarter_held_back(double opacity) {
    const double slope = 32 * opacity / edge / 0.4;
    return 0.1 + std::sqrt(2 * -std::log(0.75) / slope);
}

TEST_F(Probing, CompositeStopsAtQuarterOfLight) {
    show(db_grid(edge, edge, edge), block);
    view_.elevation_deg = 90;
    for (const double opacity : {30.0, 100.0, 1000.0}) {
        view_.opacity = opacity;
        ASSERT_LT(quarter_held_back(opacity), 0.5);  // on the first part of the ramp, where the extinction is linear
        const auto probe = renderer().probe(view_, 57, 43);
        ASSERT_TRUE(probe);
        EXPECT_NEAR(probe->index[0], static_cast<double>(top) - 1 + quarter_held_back(opacity), 0.05) << opacity;
        EXPECT_NEAR(probe->normal[0], -1, 1e-6);
    }
}

TEST_F(Probing, CompositeHitsSamePlaneObliquely) {
    show(db_grid(edge, edge, edge), block);
    look_obliquely_in_perspective();
    view_.opacity = 1000;
    for (const auto& [x, y] : {std::pair{60, 45}, {50, 50}, {70, 40}}) {
        const auto [start, unit] = ray(x, y);
        const auto probe = renderer().probe(view_, x, y);
        ASSERT_TRUE(probe);
        const glm::dvec3 entry = start + (top - 1 - start.x) / unit.x * unit;  // start of the ramp
        if (entry.y < 2 || entry.y > edge - 3 || entry.z < 2 || entry.z > edge - 3) continue;
        const double slope = 32 * 1000.0 / edge / 0.4 / unit.x;  // the ramp is longer along the ray
        const double met = static_cast<double>(top) - 1 + 0.1 + std::sqrt(2 * -std::log(0.75) / slope);
        EXPECT_NEAR(probe->index[0], met, 0.05) << x << ", " << y;
        EXPECT_NEAR(probe->index[1], start.y + (met - start.x) / unit.x * unit.y, 0.05);
        EXPECT_NEAR(probe->index[2], start.z + (met - start.x) / unit.x * unit.z, 0.05);
    }
}

// Along each ray, one voxel stands out. The reported value is the stored one.
TEST_F(Probing, ExtremesReportTheirVoxels) {
    for (const ViewMode mode : {ViewMode::mip, ViewMode::minip}) {
        for (const VoxelType type : {VoxelType::f32, VoxelType::u16, VoxelType::u8}) {
            const VolumeGrid grid = db_grid(24, 26, 28, type);
            const auto prominent = [](std::int64_t z, std::int64_t a) { return std::int64_t(28 * noise(z, a, 99)); };
            const auto some = [&](std::int64_t z, std::int64_t a, std::int64_t b) {
                if (b == prominent(z, a)) return mode == ViewMode::mip ? 38. : 2.;
                return 5 + 28 * noise(z, a, b);
            };
            show(grid, some);
            set(view_, "width=26 height=24");
            view_.zoom = std::sqrt(24.0 * 24 + 26 * 26 + 28 * 28) / 24;
            view_.mode = mode;
            for (const auto& [x, y] : {std::pair{3, 4}, {12, 20}, {25, 0}}) {
                const auto probe = renderer().probe(view_, x, y);
                ASSERT_TRUE(probe);
                EXPECT_EQ(probe->voxel, (std::array<std::int64_t, 3>{y, x, prominent(y, x)}));
                EXPECT_NEAR(probe->index[2], static_cast<double>(prominent(y, x)), 0.05);
                const double code = (some(y, x, prominent(y, x)) - grid.offset) / grid.scale;
                const double stored = type == VoxelType::f32 ? static_cast<float>(code) : std::round(code);
                EXPECT_DOUBLE_EQ(probe->value, stored * grid.scale + grid.offset);
            }
        }
    }
}

TEST_F(Probing, PointsReportFirstBall) {
    show(db_grid(edge, edge, edge), block);
    set(view_, "elevation_deg=90 mode=points");
    view_.zoom *= 1.01;  // so that pixels are not at the centres of balls
    const auto probe = renderer().probe(view_, 57, 43);
    ASSERT_TRUE(probe);
    EXPECT_EQ(probe->voxel[0], top);
    EXPECT_EQ(probe->value, 40);
    EXPECT_GE(probe->index[0], static_cast<double>(top) - 0.5);
    EXPECT_LT(probe->index[0], static_cast<double>(top));
}

// The volume, 80 x 80 in the plane, fills the 100 rows of the picture: a pixel is 0.8 voxels wide.
TEST_F(Probing, SectionsReportPositionsAndValuesInPlane) {
    const auto value = [](std::int64_t z, std::int64_t a, std::int64_t b) {
        return 0.1 * static_cast<double>(z) + 0.05 * static_cast<double>(a) + 0.2 * static_cast<double>(b);
    };
    show(db_grid(edge, edge, edge), value);
    look_obliquely_in_perspective();  // a section must ignore it
    set(view_, "roll_deg=0 show=slice plane_offset_um=10.5");
    for (const auto& [x, y] : {std::pair{60, 70}, {30, 40}, {95, 99}}) {
        const auto probe = renderer().probe(view_, x, y);
        ASSERT_TRUE(probe);
        EXPECT_NEAR(probe->index[0], middle + 0.8 * (y + 0.5 - 50), 0.05);
        EXPECT_NEAR(probe->index[1], middle + 0.8 * (x + 0.5 - 60), 0.05);
        EXPECT_NEAR(probe->index[2], middle + 10.5, 0.05);
        const auto [z, a, b] = probe->voxel;
        EXPECT_EQ(b, 50);
        EXPECT_NEAR(probe->value, value(z, a, b), 1e-5);
    }
}

// In any mode, the reported position is on the ray of the pixel, and the value is that of the volume there.
TEST_F(Probing, EveryModeReportsVoxelOnRay) {
    show(db_grid(edge, edge, edge), ball(db_grid(edge, edge, edge), 36));
    look_obliquely_in_perspective();
    view_.isovalue = 10;
    for (const ViewMode mode : all_modes) {
        view_.mode = mode;
        for (const auto& [x, y] : {std::pair{60, 50}, {74, 44}, {70, 62}}) {
            const auto probe = renderer().probe(view_, x, y);
            ASSERT_TRUE(probe) << text_of(mode).name;
            const auto [start, unit] = ray(x, y);
            const glm::dvec3 index = vector_of(probe->index);
            EXPECT_LT(glm::length(glm::cross(index - start, unit)), 1e-3) << text_of(mode).name;
            for (int i = 0; i < 3; ++i) {
                EXPECT_LT(std::abs(index[i] - static_cast<double>(probe->voxel[static_cast<std::size_t>(i)])), 0.51);
            }
            const auto [z, a, b] = probe->voxel;
            EXPECT_EQ(probe->value, static_cast<float>(ball(grid_, 36)(z, a, b))) << text_of(mode).name;
        }
    }
}

TEST_F(Probing, FindsNoVoxelInEmptyVolume) {
    show(db_grid(edge, edge, edge), [](auto...) { return 0.0; });
    for (const ViewMode mode : {ViewMode::composite, ViewMode::mip, ViewMode::isosurface}) {
        view_.mode = mode;
        EXPECT_FALSE(renderer().probe(view_, 60, 50)) << static_cast<int>(mode);
        EXPECT_FALSE(renderer().probe(view_, 0, 0)) << static_cast<int>(mode);
    }
}

TEST_F(Probing, ReadsBackOneRayAndRejectsPixelsOutside) {
    show(db_grid(edge, edge, edge), block);
    const std::int64_t before = renderer().bytes_read_back();
    renderer().probe(view_, 60, 50);
    EXPECT_EQ(renderer().bytes_read_back() - before, static_cast<std::int64_t>(sizeof(RayMeasure)));
    for (const auto& [x, y] : {std::pair{-1, 0}, {120, 0}, {0, 100}})
        EXPECT_THAT(refusal_of([&] { renderer().probe(view_, x, y); }).line(), testing::HasSubstr("120 x 100"));
}

}  // namespace
}  // namespace echolux::test
