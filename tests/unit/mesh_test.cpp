// Meshes: closed and manifold by counting edges, area and volume of a ball against formulas.
// tests/cli/test_mesh.py reads the files with trimesh.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/mesh/mesh.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

// Value: radius minus distance from the centre, in voxels of 10, 20 and 5 um (depth, A-scans, B-scans).
Volume ball(double radius_um, std::int64_t edge) {
    Volume volume = make_volume({.depth = edge, .a_scans = edge / 2, .b_scans = edge * 2, .spacing_um = {10, 20, 5}});
    std::vector<float> values;
    for (std::int64_t b = 0; b < volume.grid.b_scans; ++b) {
        for (std::int64_t a = 0; a < volume.grid.a_scans; ++a) {
            for (std::int64_t z = 0; z < volume.grid.depth; ++z) {
                const double dz = 10 * (static_cast<double>(z) - 20.3), dx = 20 * (static_cast<double>(a) - 9.8),
                             dy = 5 * (static_cast<double>(b) - 40.1);
                values.push_back(static_cast<float>(radius_um - std::sqrt(dx * dx + dy * dy + dz * dz)));
            }
        }
    }
    std::memcpy(volume.voxels.data(), values.data(), volume.voxels.size());
    return volume;
}

// In a closed, oriented, manifold mesh each edge occurs once in each direction.
void expect_closed(const Mesh& mesh) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
    for (const auto& t : mesh.triangles) {
        for (std::size_t i = 0; i < 3; ++i) ++edges[{t[i], t[(i + 1) % 3]}];
    }
    for (const auto& [edge, count] : edges) {
        ASSERT_EQ(count, 1);
        ASSERT_TRUE(edges.contains({edge.second, edge.first}));
    }
}

TEST(Mesh, BallHasItsAreaAndVolume) {
    SilentProgress progress;
    const Mesh mesh = isosurface(ball(150, 40), 0, progress);
    expect_closed(mesh);
    EXPECT_EQ(std::ssize(mesh.points) - std::ssize(mesh.triangles) / 2, 2);  // Euler: V - E + F, with E = 3/2 F
    EXPECT_NEAR(mesh.area(), 4 * std::numbers::pi * 0.15 * 0.15, 0.005 * 0.2827);
    EXPECT_NEAR(mesh.volume(), 4 * std::numbers::pi / 3 * std::pow(0.15, 3), 0.005 * 0.014137);
}

TEST(Mesh, IsClosedAtBordersAndAroundMissingVoxels) {
    Volume volume = ball(250, 40);  // cut by all six sides
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); i += 37) values[i] = std::nanf("");
    SilentProgress progress;
    const Mesh mesh = isosurface(volume, 0, progress);
    expect_closed(mesh);
    EXPECT_GT(mesh.volume(), 0);
}

TEST(Mesh, SheetsLeaveOutMissingPositions) {
    Surfaces surfaces{.a_scans = 3, .b_scans = 3, .all = {{"ILM", std::vector<float>(9, 4), {}, {}}}};
    surfaces.all[0].rows[0] = std::nanf("");
    VolumeGrid grid{.depth = 10, .a_scans = 3, .b_scans = 3, .spacing_um = {10, 20, 5}, .first_depth_um = 100};
    const std::vector<Mesh> meshes = sheets_of(surfaces, grid);
    ASSERT_EQ(meshes.size(), 1U);
    EXPECT_EQ(meshes[0].points.size(), 8U);
    EXPECT_EQ(meshes[0].triangles.size(), 6U);
    EXPECT_NEAR(meshes[0].area(), 3 * 0.02 * 0.005, 1e-9);
    EXPECT_FLOAT_EQ(meshes[0].points[0][2], 0.14F);
}

TEST(Mesh, GlbReplacesWrongUtf8InNames) {
    Mesh mesh{.name = "RPE\xff", .points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, .triangles = {{0, 1, 2}}};
    EXPECT_NE(mesh_bytes({mesh}, ".glb").find("RPE\xEF\xBF\xBD"), std::string::npos);
}

TEST(Mesh, RefusesLevelsOutsideValuesAndUnknownEndings) {
    SilentProgress progress;
    EXPECT_THROW(isosurface(ball(150, 40), 200, progress), Error);
    EXPECT_THROW(isosurface(ball(150, 40), -1e6, progress), Error);
    EXPECT_THROW(mesh_bytes({}, ".obj"), Error);
}

}  // namespace
}  // namespace echolux
