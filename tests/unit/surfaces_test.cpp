// Uses of surfaces: files, thickness, slabs, flattened volumes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/reason.h"
#include "engine/layers/layers.h"
#include "temporary_folder.h"

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
    Volume volume;
    volume.grid.depth = depth;
    volume.grid.a_scans = 3;
    volume.grid.b_scans = 2;
    volume.grid.spacing_um = {2, 5, 7};
    volume.grid.first_depth_um = 100;
    volume.voxels.resize(index(volume.grid.bytes()));
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

}  // namespace
}  // namespace echolux
