// Profiles along lines: exact in a volume of linearly increasing values, and exported as a table.
#include "engine/analysis/figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compute/error.h"
#include "engine/io/image_header.h"

namespace echolux {
namespace {

// value = 2 + 3 depth + 5 a + 7 b in voxels; codes are half of that.
Volume linear_volume(std::array<double, 3> spacing_um) {
    Volume volume;
    volume.grid.depth = 8;
    volume.grid.a_scans = 6;
    volume.grid.b_scans = 5;
    volume.grid.spacing_um = spacing_um;
    volume.grid.scale = 2;
    volume.grid.offset = 2;
    volume.grid.unit = "counts";
    std::vector<float> codes;
    for (int b = 0; b < 5; ++b) {
        for (int a = 0; a < 6; ++a) {
            for (int z = 0; z < 8; ++z) codes.push_back(0.5f * static_cast<float>(3 * z + 5 * a + 7 * b));
        }
    }
    volume.voxels.resize(codes.size() * sizeof(float));
    std::memcpy(volume.voxels.data(), codes.data(), volume.voxels.size());
    return volume;
}

TEST(LineProfiles, AreExactForLinearValues) {
    const LineProfile profile = line_profile(linear_volume({2, 10, 20}), {2, 10, 0}, {12, 40, 80});
    ASSERT_GT(profile.values.size(), 10u);
    EXPECT_NEAR(profile.length, std::hypot(10, 30, 80), 1e-9);
    EXPECT_TRUE(profile.has_spacing);
    EXPECT_EQ(profile.unit, "counts");
    for (std::size_t i = 0; i < profile.values.size(); ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(profile.values.size() - 1);
        const double expected =
            2 + 3 * std::lerp(1, 6, share) + 5 * std::lerp(1, 4, share) + 7 * std::lerp(0, 4, share);
        EXPECT_NEAR(profile.values[i], expected, 1e-4);
    }
}

TEST(LineProfiles, CountVoxelsWithoutSpacing) {
    const LineProfile profile = line_profile(linear_volume({0, 0, 0}), {0, 0, 0}, {4, 0, 0});
    EXPECT_FALSE(profile.has_spacing);
    EXPECT_EQ(profile.length, 4);
    EXPECT_EQ(profile.values.size(), 9u);
    EXPECT_TRUE(profile_csv(profile).starts_with("length_voxels,value\n0,2\n0.5,3.5\n"));
}

TEST(LineProfiles, RefuseComplexVoxels) {
    Volume volume = linear_volume({1, 1, 1});
    volume.grid.type = VoxelType::complex64;
    EXPECT_THROW(line_profile(volume, {0, 0, 0}, {1, 0, 0}), Error);
}

TEST(Orientation, LettersFollowRadiology) {
    EXPECT_EQ(orientation_of({{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}), "PLS");   // axial, from the feet
    EXPECT_EQ(orientation_of({{{0, 1, 0}, {0, 0, -1}, {1, 0, 0}}}), "IPL");  // sagittal
    EXPECT_EQ(orientation_of({{{0.9, 0.1, 0}, {-0.1, 0.9, 0}, {0, 0, -2}}}), "PLI");
    EXPECT_EQ(orientation_of({{{1, 0, 0}, {1, 0.1, 0}, {0, 0, 1}}}), "");
    EXPECT_EQ(orientation_of({{{0, 0, 0}, {0, 1, 0}, {0, 0, 1}}}), "");
    EXPECT_EQ(opposite_side('L'), "R");
    EXPECT_EQ(opposite_side('I'), "S");
    EXPECT_EQ(opposite_side('x'), "");
}

}  // namespace
}  // namespace echolux
