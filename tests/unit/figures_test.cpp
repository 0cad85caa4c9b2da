// Pictures of slices and their panels: orientation, ranges, proportions. Pictures of devices, and profiles along lines.
#include "engine/analysis/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "app/figure/figure_page.h"
#include "compute/empty_value.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/image_header.h"
#include "engine/simulate/device_picture.h"
#include "tests/support/volumes.h"

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
    const Volume volume = make_volume({4, 1, 1}, std::vector<float>{0, 1e-4F, 1, std::nanf("")}, "reflectivity");
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
    Volume volume = make_volume({.depth = 220, .a_scans = 500, .b_scans = 1, .type = VoxelType::f32, .quantity = "db"});
    std::mt19937 random(4);
    std::exponential_distribution<double> power(1);
    std::vector<float> values(index(volume.grid.voxels()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double mean_db = i % 220 < 200 ? 7 : 37;
        values[i] = static_cast<float>(mean_db + 10 * std::log10(power(random)));
    }
    std::memcpy(volume.voxels.data(), values.data(), volume.voxels.size());
    const GrayRange range = percentile_range(b_scan_figure(volume, 0));
    EXPECT_NEAR(range.black, 7, 0.5);
    // 0.1 % of all values are 1.1 % of the bright ones: 37 dB + 10 log10(-ln 0.011)
    EXPECT_NEAR(range.white, 37 + 10 * std::log10(-std::log(0.011)), 0.3);
}

// Four in five voxels have the dB of zero, 170 dB below all others.
Volume sparse_volume() {
    std::vector<float> values(400, -175);
    for (std::size_t i = 0; i < values.size(); i += 5) values[i] = 0.1f * static_cast<float>(i);
    return make_volume({10, 40, 1}, values, "db");
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

// ---- pictures of devices --------------------------------------------------------------------------------------------

// Two A-scans of 32 rows: noise of power 2, except for three rows.
Volume intensities(const char* quantity = "intensity") {
    std::vector<float> power(64, 2);
    power[4] = 2.3f;  // below the cut of 1.2 times the noise
    power[5] = 27;    // 25 above the noise
    power[40] = 252;  // the brightest
    return make_volume({32, 2, 1}, power, quantity);
}

TEST(DevicePictures, SubtractNoiseAndCutBackground) {
    const Volume picture = device_picture(intensities(), {DeviceCode::linear, 1.2, 50});
    const auto* values = reinterpret_cast<const float*>(picture.voxels.data());
    EXPECT_EQ(values[0], 0);
    EXPECT_EQ(values[4], 0);
    EXPECT_NEAR(values[5], 0.1f, 1e-6f);
    EXPECT_EQ(values[40], 1);
    EXPECT_EQ(picture.grid.quantity, "");
    const Volume uncut = device_picture(intensities(), {DeviceCode::linear, 0, 50});
    EXPECT_NEAR(reinterpret_cast<const float*>(uncut.voxels.data())[4], 0.3f / 250, 1e-6f);
}

TEST(DevicePictures, CompressBrightness) {
    const Volume root = device_picture(intensities(), {});
    EXPECT_NEAR(reinterpret_cast<const float*>(root.voxels.data())[5], std::pow(0.1, 0.25), 1e-6);
    const Volume log = device_picture(intensities(), {DeviceCode::log, 1.2, 40});
    ASSERT_EQ(log.grid.type, VoxelType::u8);
    EXPECT_EQ(log.voxels[0], std::byte{0});
    EXPECT_EQ(log.voxels[5], std::byte{191});  // 255 (1 - 10 / 40)
    EXPECT_EQ(log.voxels[40], std::byte{255});
}

TEST(DevicePictures, RefuseOtherQuantities) {
    EXPECT_THROW(device_picture(intensities("db"), {}), Error);
}

// ---- profiles along lines -------------------------------------------------------------------------------------------

// value = 2 + 3 depth + 5 a + 7 b in voxels; codes are half of that.
Volume linear_volume(std::array<double, 3> spacing_um) {
    Volume volume = make_volume(
        {.depth = 8, .a_scans = 6, .b_scans = 5, .spacing_um = spacing_um, .scale = 2, .offset = 2, .unit = "counts"});
    std::vector<float> codes;
    for (int b = 0; b < 5; ++b) {
        for (int a = 0; a < 6; ++a) {
            for (int z = 0; z < 8; ++z) codes.push_back(0.5f * static_cast<float>(3 * z + 5 * a + 7 * b));
        }
    }
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

// ---- panels ---------------------------------------------------------------------------------------------------------

// One row of values as a B-scan.
Figure row(std::vector<float> values) {
    return {std::ssize(values), 1, std::move(values), 10, 10};
}

VolumeGrid grid_in(const std::string& unit) {
    return VolumeGrid{.depth = 1, .unit = unit};
}

std::array<int, 3> pixel(const Picture& picture, std::size_t index) {
    return {picture.pixels[3 * index], picture.pixels[3 * index + 1], picture.pixels[3 * index + 2]};
}

TEST(FigurePanels, DrawsVelocitiesAndBarInFlowColours) {
    const FigurePanel panel = b_scan_panel(row({-8, -4, 0, 4, 2, NAN}), grid_in("mm/s"), {});
    ASSERT_EQ(panel.picture.channels, 3);
    ASSERT_EQ(panel.picture.pixels.size(), 18u);
    const std::array<int, 3> still = pixel(panel.picture, 2), away = pixel(panel.picture, 3),
                             towards = pixel(panel.picture, 1);
    EXPECT_NEAR(still[0], still[2], 8) << "no flow is gray";
    EXPECT_GT(away[0], away[2] + 30) << "orange";
    EXPECT_GT(towards[2], towards[0] + 30) << "blue";
    EXPECT_EQ(pixel(panel.picture, 5), still) << "not measured";
    ASSERT_TRUE(panel.bar);
    EXPECT_EQ(panel.bar->unit, "mm/s");
    EXPECT_EQ(panel.bar->range.black, -panel.bar->range.white) << "as far either way";
    EXPECT_NEAR(panel.bar->range.white, 8, 0.1);
    ASSERT_TRUE(panel.bar->colours);
    const Picture& bar = *panel.bar->colours;
    EXPECT_GT(pixel(bar, 0)[0], pixel(bar, 0)[2]) << "the highest is at the top";
    EXPECT_GT(pixel(bar, 255)[2], pixel(bar, 255)[0]);
}

TEST(FigurePanels, KeepsZeroFlowGrayForChosenRange) {
    FigureStyle style{.low = 0, .high = 5};
    const FigurePanel panel = b_scan_panel(row({-8, 0, 5, 10}), grid_in("mm/s"), style);
    EXPECT_EQ(panel.bar->range.black, 0);
    EXPECT_EQ(panel.bar->range.white, 5);
    EXPECT_EQ(pixel(panel.picture, 0), pixel(panel.picture, 1));
    EXPECT_NEAR(pixel(panel.picture, 1)[0], pixel(panel.picture, 1)[2], 8);
    EXPECT_EQ(pixel(panel.picture, 2), pixel(panel.picture, 3));
    EXPECT_EQ(pixel(panel.picture, 2), pixel(*panel.bar->colours, 0));
}

TEST(FigurePanels, DrawsNonVelocitiesInGray) {
    const FigurePanel panel = b_scan_panel(row({-8, 0, 8}), grid_in("dB"), {});
    EXPECT_EQ(panel.picture.channels, 1);
    EXPECT_FALSE(panel.bar->colours);
    EXPECT_EQ(panel.bar->unit, "dB");
}

TEST(FigurePanels, AmbiguousPlacesOfMapsAreHatchedAndNamed) {
    VolumeGrid grid{.depth = 1, .a_scans = 40, .b_scans = 20};
    const std::vector<float> values(800, 5.0F);
    std::vector<std::uint8_t> ambiguous(800);
    const auto colours_of = [&](std::size_t begin, std::size_t end) {
        const FigurePanel panel = map_panel({values, ambiguous, "retina", "um"}, grid, {});
        const auto width = index(panel.picture.width), cell = width / 40;
        std::array<int, 2> counts{};  // pixels that are white, and others, of the B-scan in the top row
        for (std::size_t y = 0; y < cell; ++y) {
            for (std::size_t x = begin * cell; x < end * cell; ++x)
                ++counts.at(pixel(panel.picture, y * width + x) != std::array{255, 255, 255} ? 1 : 0);
        }
        return counts;
    };
    EXPECT_EQ(map_panel({values, ambiguous, "retina", "um"}, grid, {}).heading, "retina");
    EXPECT_EQ(colours_of(0, 40)[0], 0);
    for (std::size_t a = 10; a < 20; ++a) ambiguous[19 * 40 + a] = 1;  // of the last B-scan, which is on top
    EXPECT_EQ(map_panel({values, ambiguous, "retina", "um"}, grid, {}).heading, "retina, hatched: ambiguous (1 %)");
    EXPECT_EQ(colours_of(0, 10)[0] + colours_of(20, 40)[0], 0);
    const auto [white, others] = colours_of(10, 20);
    EXPECT_NEAR(static_cast<double>(white) / (white + others), 1.0 / 3, 0.05);
    EXPECT_EQ(map_panel({values, {}, "retina", "um"}, grid, {}).heading, "retina");
}

}  // namespace
}  // namespace echolux
