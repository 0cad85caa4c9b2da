// Pictures of slices: orientation, ranges, proportions.
#include "engine/analysis/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "compute/empty_value.h"
#include "compute/error.h"

namespace echolux {
namespace {

using testing::ElementsAre;

// Voxel (z, a, b) has the value z + 10 a + 100 b.
Volume counted_volume() {
    Volume volume;
    volume.grid.depth = 4;
    volume.grid.a_scans = 3;
    volume.grid.b_scans = 2;
    volume.grid.type = VoxelType::u8;
    for (int b = 0; b < 2; ++b) {
        for (int a = 0; a < 3; ++a) {
            for (int z = 0; z < 4; ++z) volume.voxels.push_back(static_cast<std::byte>(z + 10 * a + 100 * b));
        }
    }
    return volume;
}

TEST(BScanFigure, ColumnsAreAScansAndRowsDepthDownwards) {
    const Figure figure = b_scan_figure(counted_volume(), 1);
    EXPECT_EQ(figure.width, 3);
    EXPECT_EQ(figure.height, 4);
    EXPECT_THAT(figure.values, ElementsAre(100, 110, 120, 101, 111, 121, 102, 112, 122, 103, 113, 123));
}

TEST(BScanFigure, AppliesScaleToCodes) {
    Volume volume = counted_volume();
    volume.grid.scale = 0.5;
    volume.grid.offset = -3;
    EXPECT_FLOAT_EQ(b_scan_figure(volume, 0).values[1], 2);
}

// As displayed by instruments that store linear reflectivities.
TEST(BScanFigure, DrawsFourthRootOfReflectivities) {
    Volume volume;
    volume.grid.depth = 4;
    volume.grid.a_scans = 1;
    volume.grid.b_scans = 1;
    volume.grid.type = VoxelType::f32;
    volume.grid.quantity = "reflectivity";
    const std::array<float, 4> values{0, 1e-4F, 1, std::nanf("")};
    volume.voxels.resize(sizeof(values));
    std::memcpy(volume.voxels.data(), values.data(), sizeof(values));
    const Figure figure = b_scan_figure(volume, 0);
    EXPECT_THAT(figure.values, testing::Pointwise(testing::FloatNear(1e-6F), {0.0F, 0.1F, 1.0F, 0.0F}));
    EXPECT_THAT(gray_pixels(figure, {0, 1}).pixels, ElementsAre(0, 26, 255, 0));
    EXPECT_NEAR(en_face_figure(volume, 0, 4).values.at(0), std::pow((0 + 1e-4 + 1) / 3, 0.25), 1e-5) << "of the mean";
}

TEST(EnFaceFigure, AveragesOverDepth) {
    const Figure figure = en_face_figure(counted_volume(), 1, 3);
    EXPECT_THAT(figure.values, ElementsAre(101.5f, 111.5f, 121.5f, 1.5f, 11.5f, 21.5f));
}

TEST(EnFaceFigure, FollowsSurface) {
    const std::vector<float> surface{0, 1, 2, 0, 1, 2};
    const Figure figure = en_face_figure(counted_volume(), surface, 0, 1);
    EXPECT_THAT(figure.values, ElementsAre(100, 111, 122, 0, 11, 22));
}

TEST(Figures, ImpossibleSlicesAreRefused) {
    EXPECT_THROW(b_scan_figure(counted_volume(), 2), Error);
    EXPECT_THROW(en_face_figure(counted_volume(), 2, 2), Error);
    EXPECT_THROW(en_face_figure(counted_volume(), 0, 5), Error);
}

TEST(GrayPicture, MapsRangeAndClips) {
    const Figure figure{4, 1, {-1, 0, 5, 11}, 0, 0};
    EXPECT_THAT(gray_picture(figure, GrayRange{0, 10}).pixels, ElementsAre(0, 0, 128, 255));
}

TEST(GrayPicture, ConstantValuesAreBlack) {
    const Figure figure{2, 1, {3, 3}, 0, 0};
    EXPECT_THAT(gray_picture(figure).pixels, ElementsAre(0, 0));
}

TEST(GrayPicture, HasSquarePixelsForKnownSpacing) {
    const Picture picture = gray_picture({10, 10, std::vector<float>(100, 1.0f), 8.0, 2.0}, GrayRange{0, 1});
    EXPECT_EQ(picture.width, 40);
    EXPECT_EQ(picture.height, 10);
}

TEST(PercentileRange, CoversAlmostAllValues) {
    Figure figure{1000, 1, {}, 0, 0};
    for (int i = 0; i < 1000; ++i) figure.values.push_back(static_cast<float>(i));
    const GrayRange range = percentile_range(figure);
    EXPECT_NEAR(range.black, 3, 1);
    EXPECT_NEAR(range.white, 996, 1);
}

// Speckle with exponential power: 200 rows of noise with a mean power of 7 dB, and 20 rows that are 30 dB brighter.
TEST(PercentileRange, BeginsAtNoiseFloorOfBScan) {
    Volume volume;
    volume.grid.depth = 220;
    volume.grid.a_scans = 500;
    volume.grid.b_scans = 1;
    volume.grid.type = VoxelType::f32;
    volume.grid.quantity = "db";
    std::mt19937 random(4);
    std::exponential_distribution<double> power(1);
    std::vector<float> values(index(volume.grid.voxels()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double mean_db = i % 220 < 200 ? 7 : 37;
        values[i] = static_cast<float>(mean_db + 10 * std::log10(power(random)));
    }
    volume.voxels.resize(values.size() * sizeof(float));
    std::memcpy(volume.voxels.data(), values.data(), volume.voxels.size());
    const GrayRange range = percentile_range(b_scan_figure(volume, 0));
    EXPECT_NEAR(range.black, 7, 0.5);
    // 0.1 % of all values are 1.1 % of the bright ones: 37 dB + 10 log10(-ln 0.011)
    EXPECT_NEAR(range.white, 37 + 10 * std::log10(-std::log(0.011)), 0.3);
}

// Four in five voxels have the dB of zero, 170 dB below all others.
Volume sparse_volume() {
    Volume volume;
    volume.grid.depth = 10;
    volume.grid.a_scans = 40;
    volume.grid.b_scans = 1;
    volume.grid.type = VoxelType::f32;
    volume.grid.quantity = "db";
    std::vector<float> values(400, -175);
    for (std::size_t i = 0; i < values.size(); i += 5) values[i] = 0.1f * static_cast<float>(i);
    volume.voxels.resize(values.size() * sizeof(float));
    std::memcpy(volume.voxels.data(), values.data(), volume.voxels.size());
    return volume;
}

TEST(PercentileRange, ExcludesDecibelsOfZero) {
    Volume volume = sparse_volume();
    Figure figure = b_scan_figure(volume, 0);
    figure.noise_floor.reset();
    EXPECT_NEAR(percentile_range(figure).black, 0, 1);
    EXPECT_NEAR(percentile_range(figure).white, 39, 1);
    volume.grid.quantity = "amplitude";  // for amplitudes, zero is an ordinary value
    EXPECT_EQ(percentile_range(b_scan_figure(volume, 0)).black, -175);
}

TEST(EnFaceFigure, TreatsZeroAsSmallestOtherValueInDecibels) {
    const Figure figure = en_face_figure(sparse_volume(), 0, 10);  // two of ten: 0, 0.5; 1, 1.5; ...
    EXPECT_NEAR(figure.values[0], 0.05, 1e-5);
    EXPECT_NEAR(figure.values[39], 7.85, 1e-4);
}

TEST(EmptyValue, RequiresTiesAndGap) {
    const auto found = [](const std::vector<double>& values) {
        EmptyValue empty;
        for (const double value : values) empty.add(value);
        return empty.found();
    };
    EXPECT_EQ(found({-200, 3, -200, 7, 5}), -200);
    EXPECT_EQ(found({3, 7, -200, 5}), std::nullopt) << "no tie";
    EXPECT_EQ(found({0, 0, 1, 2, 20, 30}), std::nullopt) << "no gap";
    EXPECT_EQ(found({0, 0, 5, 5}), std::nullopt) << "of two values none is empty";
    EXPECT_EQ(found({}), std::nullopt);
    EXPECT_EQ(found({std::nan(""), -200, -200, 1, 2}), -200);
}

}  // namespace
}  // namespace echolux
