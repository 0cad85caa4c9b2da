// The tissue surface compared with the simulator's truth, flattening, and height maps from files.
#include "engine/analysis/tissue_structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/number_file.h"
#include "engine/offline/reconstruction.h"
#include "engine/simulate/simulator.h"
#include "engine/simulate/truth.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

// |found - truth| in rows of the reconstruction: median and 95th percentile over all A-scans.
struct Errors {
    double median, large;
};

Errors surface_errors(const std::string& scene) {
    const TemporaryFolder folder;
    Simulation simulation = with(Simulation{}, "a_scans=96 b_scans=24");
    simulation.scene = scene;
    SilentProgress silent;
    simulate(simulation, folder / "scan.toml", silent);
    const Truth truth = read_truth(folder / "truth");
    Reconstruction reconstruction(open_scan(folder / "scan.toml", {}));
    const Volume volume = reconstruction.run({}, silent);
    const std::vector<float> rows = tissue_surface(volume);
    std::vector<double> errors;
    for (std::int64_t b = 0; b < 24; ++b) {
        for (std::int64_t a = 0; a < 96; ++a) {
            const auto line = index(b * 96 + a);
            const double expected = (static_cast<double>(truth.boundaries_um[line]) - volume.grid.first_depth_um) /
                                    volume.grid.spacing_um[0];
            errors.push_back(std::abs(static_cast<double>(rows[line]) - expected));
        }
    }
    std::ranges::sort(errors);
    return {errors[errors.size() / 2], errors[errors.size() * 95 / 100]};
}

TEST(TissueSurface, IsFoundInRetinaWithinTwoBins) {
    EXPECT_LT(surface_errors("retina").median, 2);  // one A-scan in twenty is off by 18 bins or more
}

TEST(TissueSurface, IsFoundInLayersWithinTwoBins) {
    const Errors errors = surface_errors("layers");
    EXPECT_LT(errors.median, 2);
    EXPECT_LT(errors.large, 4);
}

Volume painted(std::int64_t depth, std::int64_t a_scans, std::int64_t b_scans) {
    return make_volume({.depth = depth, .a_scans = a_scans, .b_scans = b_scans});
}

float* values(Volume& volume) {
    return reinterpret_cast<float*>(volume.voxels.data());
}

TEST(TissueSurface, FillsMissingAScansFromNeighbours) {
    Volume volume = painted(64, 20, 20);
    for (std::int64_t line = 0; line < 400; ++line) {
        const bool is_dark = line % 20 > 8 && line % 20 < 11 && line / 20 > 8 && line / 20 < 11;
        for (std::int64_t z = 0; z < 64; ++z) values(volume)[line * 64 + z] = z < 30 ? 1.0F : is_dark ? 1.0F : 90.0F;
    }
    EXPECT_THAT(tissue_surface(volume), ::testing::Each(::testing::FloatNear(29.5F, 1.0F)));
}

TEST(TissueSurface, ReportsMissingSurface) {
    Volume volume = painted(64, 4, 4);
    EXPECT_THROW(tissue_surface(volume), Error);
    Volume thin = painted(8, 4, 4);
    EXPECT_THROW(tissue_surface(thin), Error);
}

TEST(Flatten, MovesRampByPartsOfRow) {
    Volume volume = painted(40, 3, 2);
    const std::vector<float> rows{10, 12.25F, 8, 9.5F, 10.5F, 10};
    for (std::int64_t line = 0; line < 6; ++line) {
        for (std::int64_t z = 0; z < 40; ++z) {
            const float below = static_cast<float>(z) - rows[index(line)];
            values(volume)[line * 40 + z] = 3 * below;
        }
    }
    const double level = flat_row(rows);
    EXPECT_EQ(level, 10);
    flatten(volume, rows);
    for (std::int64_t line = 0; line < 6; ++line) {
        for (std::int64_t z = 4; z < 36; ++z) {
            EXPECT_NEAR(values(volume)[line * 40 + z], 3 * (static_cast<double>(z) - level), 1e-4);
        }
    }
}

TEST(Flatten, RoundsToWholeVoxelsOfIntegers) {
    Volume volume = painted(16, 1, 2);
    volume.grid.type = VoxelType::u8;
    volume.voxels.resize(32);
    for (std::size_t i = 0; i < 32; ++i) volume.voxels[i] = static_cast<std::byte>(10 * (i % 16));
    flatten(volume, {5.26F, 4.74F});  // up by 0.26, down by 0.26
    EXPECT_EQ(std::to_integer<int>(volume.voxels[3]), 33);
    EXPECT_EQ(std::to_integer<int>(volume.voxels[16 + 3]), 27);
    EXPECT_EQ(std::to_integer<int>(volume.voxels[15]), 150);  // the last voxel is repeated beyond its end
}

class Heights : public ::testing::Test {
  protected:
    std::vector<float> read(const std::string& text) {
        std::ofstream(folder_ / "heights.csv") << text;
        return read_heights(folder_ / "heights.csv", 3, 2);
    }

    TemporaryFolder folder_;
};

TEST_F(Heights, ReadsCsvWithLinePerBScan) {
    const std::vector<float> expected{1, 2.5F, -3, 4, 5, 6e2F};
    EXPECT_EQ(read("# um\n1, 2.5,-3\n\n4;5 6e2 # the last\n"), expected);
}

TEST_F(Heights, ReadsVolumeFileAsColumnsAndRows) {
    Volume picture = painted(2, 3, 1);  // its two rows are two B-scans
    for (int i = 0; i < 6; ++i) values(picture)[i] = static_cast<float>(i);
    write_volume(folder_ / "heights.nrrd", picture);
    const std::vector<float> expected{0, 2, 4, 1, 3, 5};
    EXPECT_EQ(read_heights(folder_ / "heights.nrrd", 3, 2), expected);
    EXPECT_THROW(read_heights(folder_ / "heights.nrrd", 2, 3), Error);
}

TEST_F(Heights, HostileFilesAreRefused) {
    for (const char* text : {"", "1 2 3", "1 2 3\n4 5\n", "1 2 3\n4 5 6\n7 8 9\n", "1 2 x\n4 5 6\n", "1 2 nan\n4 5 6\n",
                             "1 2 3 4\n4 5 6 7\n"}) {
        EXPECT_THROW(read(text), Error) << text;
    }
    EXPECT_THROW(read_heights(folder_ / "none.csv", 3, 2), Error);
    EXPECT_THROW(read_heights(folder_.path(), 3, 2), Error);
}

}  // namespace
}  // namespace echolux
