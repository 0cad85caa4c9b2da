// Vessels between surfaces: area, length, flux, unmeasured parts and tails, painted so that the truth is known.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/angiography/flow_maps.h"
#include "engine/validation/scenes.h"
#include "tests/support/set_fields.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

constexpr std::int64_t depth = 40, width = 60, length = 50;

Volume flow_volume(std::int64_t d, std::int64_t a, std::int64_t b) {
    return make_volume(
        {.depth = d, .a_scans = a, .b_scans = b, .spacing_um = {2, 10, 20}, .quantity = "complex_decorrelation"});
}

float& at(Volume& volume, std::int64_t z, std::int64_t a, std::int64_t b) {
    return reinterpret_cast<float*>(volume.voxels.data())[(b * volume.grid.a_scans + a) * volume.grid.depth + z];
}

Surfaces planes(const VolumeGrid& grid, std::vector<float> rows) {
    Surfaces surfaces{.a_scans = grid.a_scans, .b_scans = grid.b_scans};
    for (const float row : rows) {
        Surface surface;
        surface.name = "at" + std::to_string(static_cast<int>(row));
        surface.rows.assign(index(grid.a_scans * grid.b_scans), row);
        surfaces.all.push_back(surface);
    }
    return surfaces;
}

// A vessel along B-scans at A-scans 20 to 25 and depths 10 to 15, with the value 0.5, in static tissue that is never 0
// where B-scans were measured.
Volume with_vessel() {
    Volume flow = flow_volume(depth, width, length);
    for (std::int64_t b = 0; b < length; ++b) {
        for (std::int64_t a = 20; a < 26; ++a) {
            for (std::int64_t z = 10; z < 16; ++z) at(flow, z, a, b) = 0.5F;
        }
    }
    return flow;
}

TEST(VesselMaps, ReportAreaLengthAndFlux) {
    const Volume flow = with_vessel();
    const Surfaces surfaces = planes(flow.grid, {5.5F, 20.5F, 30.5F});
    const VesselMaps maps = vessel_maps(flow, surfaces, {0, 1}, {});
    const VesselStats stats = vessel_stats(maps, flow.grid);
    EXPECT_NEAR(stats.area_mm2, 0.6, 1e-9);
    EXPECT_DOUBLE_EQ(stats.measured_percent, 100);
    EXPECT_DOUBLE_EQ(stats.density_percent, 10);
    EXPECT_NEAR(stats.flux, 0.5, 1e-6);
    EXPECT_NEAR(stats.skeleton_mm, 1 - 0.12, 0.03);  // thinning also shortens the ends by half of the width of six
    EXPECT_NEAR(stats.skeleton_per_mm, stats.skeleton_mm / 0.6, 1e-9);
    EXPECT_EQ(vessel_stats(vessel_maps(flow, surfaces, {1, 2}, {}), flow.grid).density_percent, 0);
    EXPECT_EQ(vessel_stats(vessel_maps(flow, surfaces, {0, 1}, {.above = 0.6}), flow.grid).density_percent, 0);
}

// 100 um are 10 A-scans and 5 B-scans, so windows are 11 x 5.
TEST(VesselMaps, DensityUsesSquareWindow) {
    const Volume flow = with_vessel();
    const VesselMaps maps = vessel_maps(flow, planes(flow.grid, {5.5F, 20.5F}), {0, 1}, {});
    const auto density = [&](std::int64_t a) { return maps.density[index(25 * width + a)]; };
    EXPECT_FLOAT_EQ(density(22), 100.0F * 6 / 11);
    EXPECT_FLOAT_EQ(density(17), 100.0F * 3 / 11);
    EXPECT_FLOAT_EQ(density(40), 0);
}

TEST(VesselMaps, IgnoreUnmeasuredPositions) {
    Volume flow = with_vessel();
    for (std::int64_t a = 0; a < width; ++a) {
        for (std::int64_t z = 0; z < depth; ++z) at(flow, z, a, 7) = 0;  // a B-scan without values
    }
    Surfaces surfaces = planes(flow.grid, {5.5F, 20.5F});
    for (std::int64_t b = 20; b < 30; ++b) {
        for (std::int64_t a = 0; a < width; ++a) surfaces.all[1].rows[index(b * width + a)] = std::nanf("");
    }
    const VesselMaps maps = vessel_maps(flow, surfaces, {0, 1}, {});
    EXPECT_TRUE(std::isnan(maps.vessels[7 * width + 22]));
    EXPECT_TRUE(std::isnan(maps.density[25 * width + 22]));
    const VesselStats stats = vessel_stats(maps, flow.grid);
    EXPECT_NEAR(stats.measured_percent, 78, 1e-9);
    EXPECT_NEAR(stats.density_percent, 10, 1e-9);
}

// Single voxels and specks within one B-scan are noise. Voxels that fill a plane of the surrounding 27 are not.
TEST(VesselMaps, IgnoreIsolatedSpecks) {
    Volume flow = flow_volume(depth, width, length);
    std::mt19937 random(2);
    for (std::int64_t i = 0; i < flow.grid.voxels() / 50; ++i) {
        at(flow, static_cast<std::int64_t>(random() % depth), static_cast<std::int64_t>(random() % width),
           static_cast<std::int64_t>(random() % length)) = 0.9F;
    }
    const VesselMaps maps = vessel_maps(flow, planes(flow.grid, {-0.5F, 39.5F}), {0, 1}, {});
    EXPECT_LT(vessel_stats(maps, flow.grid).density_percent, 0.1);
}

TEST(VesselMaps, RequireAngiography) {
    Volume flow = with_vessel();
    const Surfaces surfaces = planes(flow.grid, {5.5F, 20.5F});
    flow.grid.quantity = "db";
    EXPECT_THROW(vessel_maps(flow, surfaces, {0, 1}, {}), Error);
    EXPECT_THROW(remove_tails(flow, 12), Error);
    flow.grid.quantity = "omag";
    EXPECT_NO_THROW(vessel_maps(flow, surfaces, {0, 1}, {}));
    flow.grid.spacing_um = {0, 0, 0};
    EXPECT_THROW(vessel_maps(flow, surfaces, {0, 1}, {}), Error);
}

TEST(Skeleton, FollowsMiddleOfStripe) {
    std::vector<float> map(30 * 20);
    for (std::size_t y = 8; y < 11; ++y) {
        for (std::size_t x = 3; x < 27; ++x) map[y * 30 + x] = 1;
    }
    const auto skeleton = skeleton_of(map, 30, 20);
    for (std::size_t x = 5; x < 25; ++x) {
        EXPECT_EQ(skeleton[9 * 30 + x], 1) << x;
        EXPECT_EQ(skeleton[8 * 30 + x] + skeleton[10 * 30 + x], 0) << x;
    }
    EXPECT_NEAR(skeleton_length(skeleton, 30, 1, 1), 24 - 1 - 2, 1);  // steps, less half of the width at each end
}

TEST(Skeleton, LengthCountsDiagonals) {
    std::vector<std::uint8_t> line(20 * 20);
    for (std::size_t i = 2; i < 12; ++i) line[i * 20 + i] = 1;
    EXPECT_NEAR(skeleton_length(line, 20, 3, 4), 9 * 5, 1e-9);
    std::vector<std::uint8_t> other(20 * 20);
    for (std::size_t i = 2; i < 12; ++i) other[i * 20 + 15 - i] = 1;
    EXPECT_NEAR(skeleton_length(other, 20, 3, 4), 9 * 5, 1e-9);
}

// A vessel, its tail, and another vessel that is deeper and to the side.
TEST(Tails, AreRemovedWithoutVessels) {
    Volume flow = with_vessel();
    for (std::int64_t b = 0; b < length; ++b) {
        for (std::int64_t a = 20; a < 26; ++a) {
            for (std::int64_t z = 16; z < depth; ++z) at(flow, z, a, b) = 0.2F;
        }
        for (std::int64_t a = 40; a < 46; ++a) {
            for (std::int64_t z = 25; z < 31; ++z) at(flow, z, a, b) = 0.3F;
        }
    }
    remove_tails(flow, 12);  // six rows
    EXPECT_EQ(at(flow, 12, 22, 20), 0.5F);
    EXPECT_EQ(at(flow, 28, 43, 20), 0.3F);
    EXPECT_EQ(at(flow, 25, 22, 20), 0);
    EXPECT_EQ(at(flow, 38, 22, 20), 0);
}

// From painted repeats to the map: vessels of known width in moving tissue.
TEST(VesselMaps, MeasureDensityInMovingTissue) {
    RepeatsScene scene{.b_scans = 6, .motion_um = 1};
    const PaintedRepeats painted = painted_repeats(scene);
    FlowRecipe recipe = with(FlowRecipe{}, "method=complex_decorrelation align=true window_depth=3 window_lines=3");
    const std::vector<float> values = flow_of(scene, painted, recipe);
    Volume flow = flow_volume(scene.depth, scene.a_scans, scene.b_scans);
    flow.grid.spacing_um = {scene.depth_um, scene.spacing_um, scene.spacing_um};
    std::memcpy(flow.voxels.data(), values.data(), flow.voxels.size());
    const Surfaces surfaces = planes(flow.grid, {20.5F, 70.5F, 120.5F});
    // Vessels of radius 6, 3 and 4 at depths 40 and 60, with tails below.
    const double truth = 100.0 * (13 + 7 + 9) / 160;
    const VesselStats found = vessel_stats(vessel_maps(flow, surfaces, {0, 1}, {}), flow.grid);
    EXPECT_NEAR(found.density_percent, truth, 2.5);
    EXPECT_GT(found.flux, 0.3);

    const auto shown = [&] {
        const auto* first = reinterpret_cast<const float*>(flow.voxels.data());
        return contrast_of(painted, {first, first + flow.grid.voxels()});
    };
    const VesselContrast before = shown();
    remove_tails(flow, 12);
    const VesselContrast after = shown();
    EXPECT_GT(before.below, 0.5);
    EXPECT_LT(after.below, 0.15);
    EXPECT_GT(after.flowing, 0.8 * before.flowing);
}

}  // namespace
}  // namespace echolux
