// Uses of surfaces: files, thickness, slabs, flattened volumes, dragging by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/reason.h"
#include "engine/layers/layers.h"
#include "temporary_folder.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();

Surfaces two_surfaces() {
    Surfaces surfaces{3, 2, {}, 0};
    surfaces.all.push_back({"top", {4, 5, 6, 7, 8, none}, std::vector<float>(6, 3), {}});
    surfaces.all.push_back({"bottom", {10, 11.5f, 12, 13, 14, 15}, std::vector<float>(6, 3), {}});
    for (Surface& surface : surfaces.all) {
        for (const float row : surface.rows)
            surface.reasons.push_back(std::isnan(row) ? Reason::no_signal : Reason::ok);
    }
    return surfaces;
}

// 0, 1, 2, ... along every A-scan.
Volume ramps(std::int64_t depth) {
    Volume volume =
        make_volume({.depth = depth, .a_scans = 3, .b_scans = 2, .spacing_um = {2, 5, 7}, .first_depth_um = 100});
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) values[i] = static_cast<float>(i % depth);
    return volume;
}

const float* values_of(const Volume& volume) {
    return reinterpret_cast<const float*>(volume.voxels.data());
}

TEST(SurfaceFiles, KeepDepthsAndNames) {
    const TemporaryFolder folder;
    const Volume volume = ramps(32);
    const Surfaces surfaces = two_surfaces();
    write_volume(folder / "s.nrrd", volume_of(surfaces, volume));
    const Volume file = read_volume(folder / "s.nrrd");
    EXPECT_EQ(file.grid.b_scans, 2);
    EXPECT_EQ(file.grid.unit, "um");
    EXPECT_FLOAT_EQ(values_of(file)[1], 114);  // row 7 of the second B-scan; rows of a slice are B-scans
    const Surfaces read = read_surfaces(folder / "s.nrrd", volume.grid);
    ASSERT_EQ(read.all.size(), 2U);
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(read.all[k].name, surfaces.all[k].name);
        EXPECT_THAT(read.all[k].rows, testing::Pointwise(testing::NanSensitiveFloatEq(), surfaces.all[k].rows));
        EXPECT_EQ(read.all[k].reasons, surfaces.all[k].reasons);
    }
    Volume other = ramps(32);
    std::swap(other.grid.a_scans, other.grid.b_scans);
    EXPECT_THROW(read_surfaces(folder / "s.nrrd", other.grid), Error);
}

TEST(SurfaceFiles, CrossingSurfacesAreSorted) {
    const TemporaryFolder folder;
    const Volume volume = ramps(32);
    Surfaces surfaces = two_surfaces();
    surfaces.all[1].rows[2] = 1;
    write_volume(folder / "s.nrrd", volume_of(surfaces, volume));
    const Surfaces read = read_surfaces(folder / "s.nrrd", volume.grid);
    EXPECT_EQ(read.moved, 1);
    EXPECT_EQ(read.all[1].rows[2], read.all[0].rows[2]);
}

TEST(SurfaceFiles, CrossingSurfacesAreSortedAcrossMissingOne) {
    const TemporaryFolder folder;
    const Volume volume = ramps(32);
    Surfaces surfaces = two_surfaces();
    surfaces.all.push_back(surfaces.all[1]);
    surfaces.all[2].name = "third";
    surfaces.all[1].rows[2] = none;
    surfaces.all[2].rows[2] = 1;
    write_volume(folder / "s.nrrd", volume_of(surfaces, volume));
    const Surfaces read = read_surfaces(folder / "s.nrrd", volume.grid);
    EXPECT_EQ(read.moved, 1);
    EXPECT_EQ(read.all[2].rows[2], read.all[0].rows[2]);
    EXPECT_TRUE(std::isnan(read.all[1].rows[2]));
}

TEST(SurfaceFiles, RowsFitVolumesWithoutSpacing) {
    const TemporaryFolder folder;
    const Volume volume = ramps(32);
    Volume without_spacing = volume;
    without_spacing.grid.spacing_um = {};
    write_volume(folder / "rows.nrrd", volume_of(two_surfaces(), without_spacing));
    const Surfaces read = read_surfaces(folder / "rows.nrrd", volume.grid);
    EXPECT_THAT(read.all[1].rows, testing::Pointwise(testing::FloatEq(), two_surfaces().all[1].rows));
    write_volume(folder / "um.nrrd", volume_of(two_surfaces(), volume));
    EXPECT_THROW(read_surfaces(folder / "um.nrrd", without_spacing.grid), Error);
}

TEST(SurfaceFiles, AreWrittenAsTable) {
    const std::string csv = csv_of(two_surfaces(), ramps(32).grid);
    EXPECT_TRUE(csv.starts_with("b_scan,a_scan,surface,depth_um,quality,reason\n0,0,top,108.000,3.00,ok\n"));
    EXPECT_TRUE(csv.ends_with("1,2,top,,3.00,no_signal\n1,2,bottom,130.000,3.00,ok\n"));
}

TEST(Slab, ThicknessIsInMicrometres) {
    const std::vector<float> expected{12, 13, 12, 12, 12, none};
    EXPECT_THAT(thickness_between(two_surfaces(), 0, 1, ramps(32).grid),
                testing::Pointwise(testing::NanSensitiveFloatEq(), expected));
}

TEST(Slab, CombinesVoxelsBetweenSurfaces) {
    const Volume volume = ramps(32);
    const std::vector<float> means{6.5f, 8, 8.5f, 9.5f, 10.5f, none}, maxima{9, 11, 11, 12, 13, none};
    EXPECT_THAT(en_face_between(volume, two_surfaces(), {0, 1, 0, 0, SlabValue::mean}),
                testing::Pointwise(testing::NanSensitiveFloatEq(), means));
    EXPECT_THAT(en_face_between(volume, two_surfaces(), {0, 1, 0, 0, SlabValue::max}),
                testing::Pointwise(testing::NanSensitiveFloatEq(), maxima));
    // from 2 um below the upper surface to one voxel below that
    EXPECT_FLOAT_EQ(en_face_between(volume, two_surfaces(), {0, 0, 2, 4, SlabValue::mean})[0], 5);
    EXPECT_TRUE(std::isnan(en_face_between(volume, two_surfaces(), {0, 1, 40, 0, SlabValue::mean})[0]));
}

TEST(Slab, AveragesIntensitiesOfDecibels) {
    Volume volume = ramps(32);
    volume.grid.quantity = "db";
    double sum = 0;
    for (int z = 4; z < 10; ++z) sum += std::pow(10.0, 0.1 * z);
    EXPECT_NEAR(en_face_between(volume, two_surfaces(), {0, 1, 0, 0, SlabValue::mean})[0], 10 * std::log10(sum / 6),
                1e-4);
}

TEST(FlattenTo, MovesSurfaceToOneRowAndBack) {
    const Surfaces surfaces = two_surfaces();
    Volume volume = ramps(32);
    flatten_to(volume, surfaces.all[1]);
    const double level = flat_row_of(surfaces.all[1]);
    EXPECT_EQ(level, 13);
    for (std::int64_t line = 0; line < 6; ++line) {
        const float row = surfaces.all[1].rows[index(line)];
        EXPECT_FLOAT_EQ(values_of(volume)[line * 32 + 13], row);  // cubic interpolation preserves a straight line
    }
    flatten_to(volume, surfaces.all[1], true);
    for (std::int64_t i = 0; i < 6 * 32; ++i) {
        if (i % 32 < 6 || i % 32 >= 26) continue;  // values moved beyond an end are lost
        EXPECT_NEAR(values_of(volume)[i], i % 32, 1e-4);
    }
}

TEST(FlattenTo, EmptiesAScansWithoutSurface) {
    Volume volume = ramps(16);
    flatten_to(volume, two_surfaces().all[0]);
    EXPECT_TRUE(std::isnan(values_of(volume)[5 * 16]));
    EXPECT_FALSE(std::isnan(values_of(volume)[4 * 16]));
}

// ---- surfaces dragged by hand ---------------------------------------------------------------------------------------

constexpr std::int64_t lines_a = 41, lines_b = 9, rows = 200;

// Returns flat surfaces at these rows.
Surfaces flat_surfaces(const std::vector<float>& at) {
    Surfaces surfaces{lines_a, lines_b, {}, 0};
    for (std::size_t k = 0; k < at.size(); ++k) {
        const auto lines = index(surfaces.lines());
        surfaces.all.push_back({std::to_string(k), std::vector<float>(lines, at[k]), std::vector<float>(lines, 7.0f),
                                std::vector<Reason>(lines, Reason::ambiguous)});
    }
    return surfaces;
}

std::size_t line_of(std::int64_t a, std::int64_t b) {
    return index(b * lines_a + a);
}

// The surfaces are equal to the last bit.
void expect_same(const Surfaces& a, const Surfaces& b) {
    for (std::size_t k = 0; k < a.all.size(); ++k) {
        EXPECT_THAT(a.all[k].rows, testing::Pointwise(testing::NanSensitiveFloatEq(), b.all[k].rows));
        EXPECT_EQ(a.all[k].quality, b.all[k].quality);
        EXPECT_EQ(a.all[k].reasons, b.all[k].reasons);
    }
}

TEST(EditSurface, SurroundingsFollowByRaisedCosine) {
    Surfaces surfaces = flat_surfaces({50, 100, 150});
    const auto edits = dragged(surfaces, 1, 20, 4, 110, rows, {.a_scans = 9, .b_scans = 3});
    apply(surfaces, 1, edits);
    for (std::int64_t b = 0; b < lines_b; ++b) {
        for (std::int64_t a = 0; a < lines_a; ++a) {
            const double da = std::abs(static_cast<double>(a - 20)), db = std::abs(static_cast<double>(b - 4));
            const double of_a = da < 10 ? std::pow(std::cos(M_PI * da / 20), 2) : 0;
            const double of_b = db < 4 ? std::pow(std::cos(M_PI * db / 8), 2) : 0;
            EXPECT_NEAR(surfaces.all[1].rows[line_of(a, b)], 100 + 10 * of_a * of_b, 1e-4) << a << ", " << b;
            EXPECT_EQ(surfaces.all[0].rows[line_of(a, b)], 50);
            EXPECT_EQ(surfaces.all[2].rows[line_of(a, b)], 150);
        }
    }
    EXPECT_EQ(surfaces.all[1].reasons[line_of(20, 4)], Reason::ok) << "somebody set it";
    EXPECT_EQ(surfaces.all[1].quality[line_of(20, 4)], 0);
    EXPECT_EQ(surfaces.all[1].reasons[line_of(0, 0)], Reason::ambiguous) << "out of reach";
}

TEST(EditSurface, MovesSingleAScanWithoutReach) {
    const Surfaces surfaces = flat_surfaces({50, 100});
    const auto edits = dragged(surfaces, 0, 3, 2, 61.5f, rows, {.a_scans = 0, .b_scans = 0});
    ASSERT_EQ(edits.size(), 1U);
    EXPECT_EQ(edits[0].line, line_of(3, 2));
    EXPECT_EQ(edits[0].row, 61.5f);
    EXPECT_EQ(edits[0].row_before, 50);
}

TEST(EditSurface, SurfacesNeverCross) {
    Surfaces surfaces = flat_surfaces({40, 60, 60, 90});
    std::mt19937 random(5);
    const auto below = [&](std::int64_t end) {
        return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
    };
    for (int i = 0; i < 300; ++i) {
        const auto row = std::uniform_real_distribution<float>(-50, 250)(random);
        const auto surface = index(below(4));
        apply(surfaces, surface,
              dragged(surfaces, surface, below(lines_a), below(lines_b), row, rows, {below(20), below(5)}));
    }
    for (std::size_t line = 0; line < surfaces.all[0].rows.size(); ++line) {
        EXPECT_GE(surfaces.all[0].rows[line], 0);
        for (std::size_t k = 1; k < 4; ++k) ASSERT_LE(surfaces.all[k - 1].rows[line], surfaces.all[k].rows[line]);
        EXPECT_LE(surfaces.all[3].rows[line], rows - 1);
    }
}

TEST(EditSurface, KeepsMissingPointsWithoutBlockingOthers) {
    Surfaces surfaces = flat_surfaces({50, 100, 150});
    const float none = std::numeric_limits<float>::quiet_NaN();
    surfaces.all[1].rows[line_of(20, 4)] = none;
    EXPECT_TRUE(dragged(surfaces, 1, 20, 4, 120, rows, {}).empty()) << "there is nothing to take hold of";
    apply(surfaces, 1, dragged(surfaces, 1, 21, 4, 120, rows, {}));
    EXPECT_TRUE(std::isnan(surfaces.all[1].rows[line_of(20, 4)]));
    apply(surfaces, 0, dragged(surfaces, 0, 20, 4, 140, rows, {.a_scans = 0, .b_scans = 0}));
    EXPECT_EQ(surfaces.all[0].rows[line_of(20, 4)], 140) << "up to the next surface that is there";
}

TEST(EditSurface, UndoRestoresEveryBit) {
    const Surfaces before = flat_surfaces({50, 51, 150});
    Surfaces surfaces = before;
    const auto edits = dragged(surfaces, 1, 0, 0, 12.3f, rows, {});
    ASSERT_FALSE(edits.empty());
    apply(surfaces, 1, edits);
    EXPECT_EQ(surfaces.all[1].rows[0], 50) << "on the surface above";
    take_back(surfaces, 1, edits);
    expect_same(surfaces, before);
}

TEST(EditSurface, RejectsMissingPositions) {
    const Surfaces surfaces = flat_surfaces({50});
    EXPECT_THROW(dragged(surfaces, 1, 0, 0, 3, rows, {}), Error);
    EXPECT_THROW(dragged(surfaces, 0, lines_a, 0, 3, rows, {}), Error);
    EXPECT_TRUE(dragged(surfaces, 0, 0, 0, std::numeric_limits<float>::quiet_NaN(), rows, {}).empty());
}

}  // namespace
}  // namespace echolux
