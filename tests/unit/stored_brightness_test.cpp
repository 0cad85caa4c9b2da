// Quantities and looks decided from the statistics of speckle, compared with gamma distributed intensities of known
// looks.
#include "engine/analysis/stored_brightness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

constexpr Size3 size{160, 128, 1};

// Three layers of speckle of these looks; the intensity of the middle one is 1.
std::vector<float> speckle(double looks, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::gamma_distribution<double> gamma(looks, 1 / looks);
    std::vector<float> values;
    for (std::int64_t i = 0; i < size[0] * size[1]; ++i) {
        const std::int64_t z = i % size[0];
        values.push_back(static_cast<float>(gamma(random) * (z < 50 ? 0.01 : z < 100 ? 1 : 0.1)));
    }
    return values;
}

template <class Change>
std::vector<float> changed(std::vector<float> values, const Change& change) {
    for (float& value : values) value = static_cast<float>(change(static_cast<double>(value)));
    return values;
}

TEST(StoredBrightness, CountsLooks) {
    for (const double looks : {1.0, 4.0, 16.0}) {
        const Brightness brightness = brightness_of(speckle(looks), size, {});
        EXPECT_EQ(brightness.stored_as, StoredAs::intensity) << brightness.why;
        EXPECT_EQ(brightness.exponent, 1);
        EXPECT_NEAR(brightness.looks, looks, 0.25 * looks + 0.2);
        EXPECT_EQ(is_single_look(brightness), looks == 1);
    }
}

TEST(StoredBrightness, IgnoresGain) {
    const std::vector<float> values = speckle(4);
    const Brightness one = brightness_of(values, size, {}),
                     other = brightness_of(changed(values, [](double v) { return 4096 * v; }), size, {});
    EXPECT_NEAR(one.looks, other.looks, 1e-4);  // logarithms are rounded
    EXPECT_NEAR(other.floor / one.floor, 4096, 1);
}

TEST(StoredBrightness, FindsFloorAndTop) {
    const Brightness brightness = brightness_of(speckle(16), size, {});
    EXPECT_NEAR(brightness.floor, 0.0095, 0.001);
    EXPECT_NEAR(brightness.top, 1, 0.15);
}

TEST(StoredBrightness, TakesNegativeValuesAsDb) {
    const std::vector<float> linear = speckle(1);
    const Brightness brightness = brightness_of(changed(linear, [](double v) { return 10 * std::log10(v); }), size, {});
    EXPECT_EQ(brightness.stored_as, StoredAs::db);
    for (std::size_t i = 0; i < linear.size(); ++i) EXPECT_NEAR(brightness.linear[i] / linear[i], 1, 1e-4);
}

TEST(StoredBrightness, RecognizesLogarithmicPictures) {
    for (const double looks : {1.0, 8.0}) {
        const auto picture =
            changed(speckle(looks), [](double v) { return std::max(0.0, 45000 + 9000 * std::log10(v)); });
        const Brightness brightness = brightness_of(picture, size, {});
        EXPECT_EQ(brightness.stored_as, StoredAs::log) << brightness.why;
    }
    EXPECT_EQ(brightness_of(speckle(1), size, {.is_8_bit = true}).stored_as, StoredAs::log);
}

// Noise of few looks in averaged tissue grows less than the brightness too.
TEST(StoredBrightness, TakesAveragedTissueInNoiseAsIntensity) {
    std::mt19937 random(2);
    std::exponential_distribution<double> noise(20);
    const auto values = changed(speckle(40), [&](double v) { return v + noise(random); });
    EXPECT_EQ(brightness_of(values, size, {}).stored_as, StoredAs::intensity);
}

TEST(StoredBrightness, ConvertsStatedQuantities) {
    const std::vector<float> linear = speckle(4);
    const auto power = [](double exponent) { return [exponent](double v) { return std::pow(v, exponent); }; };
    for (const auto& [stored_as, exponent] :
         {std::pair(StoredAs::amplitude, 0.5), std::pair(StoredAs::fourth_root, 0.25)}) {
        const Brightness brightness = brightness_of(changed(linear, power(exponent)), size, {stored_as});
        EXPECT_EQ(brightness.exponent, 1);
        for (std::size_t i = 0; i < linear.size(); ++i) ASSERT_NEAR(brightness.linear[i] / linear[i], 1, 1e-3);
    }
}

TEST(StoredBrightness, CompressesValuesThatVaryMoreThanSpeckle) {
    const auto cubed = changed(speckle(1), [](double v) { return v * v * v; });
    const Brightness brightness = brightness_of(cubed, size, {});
    EXPECT_NEAR(brightness.exponent, 1.0 / 3, 0.08);
}

TEST(StoredBrightness, MarksUnrecordedVoxels) {
    std::vector<float> values = speckle(4);
    values[5] = std::numeric_limits<float>::quiet_NaN();
    values[7] = 0;                                                  // a single dark voxel
    std::fill_n(values.begin() + 2 * size[0] + 60, 32, 0.25f);      // cut by the device
    std::fill_n(values.begin() + 4 * size[0] + 60, 31, 0.25f);      // shorter
    std::fill_n(values.begin() + 6 * size[0], size[0] - 10, 0.0f);  // a dead A-scan
    const Brightness brightness = brightness_of(values, size, {});
    const auto known = [&](std::int64_t a, std::int64_t z) { return brightness.known[index(a * size[0] + z)] != 0; };
    EXPECT_FALSE(known(0, 5));
    EXPECT_TRUE(known(0, 7));
    EXPECT_TRUE(known(2, 59));
    EXPECT_FALSE(known(2, 60));
    EXPECT_FALSE(known(2, 91));
    EXPECT_TRUE(known(2, 92));
    EXPECT_TRUE(known(4, 75));
    EXPECT_FALSE(known(6, size[0] - 1));
    EXPECT_FLOAT_EQ(brightness.linear[5], static_cast<float>(brightness.floor));
}

Volume volume_with(VoxelType type, const std::vector<std::uint8_t>& bytes) {
    Volume volume = make_volume({.depth = 4, .a_scans = 1, .b_scans = 1, .type = type});
    std::memcpy(volume.voxels.data(), bytes.data(), bytes.size());
    return volume;
}

TEST(StatedQuantities, ReplaceQuantityOfVolume) {
    Volume volume = volume_with(VoxelType::u8, {0, 1, 2, 255});
    state_quantity(volume, StoredAs::automatic);
    EXPECT_TRUE(volume.grid.quantity.empty());
    state_quantity(volume, StoredAs::log);
    EXPECT_EQ(volume.grid.quantity, "db");
    EXPECT_NEAR(255 * volume.grid.scale, 45, 1e-9);

    Volume roots = volume_with(VoxelType::u8, {0, 1, 2, 3});
    roots.grid.scale = 0.5;
    state_quantity(roots, StoredAs::fourth_root);
    EXPECT_EQ(roots.grid.quantity, "intensity");
    ASSERT_EQ(roots.grid.type, VoxelType::f32);
    EXPECT_FLOAT_EQ(reinterpret_cast<const float*>(roots.voxels.data())[3], 5.0625f);
}

TEST(StatedQuantities, NeedKnownScale) {
    Volume volume = volume_with(VoxelType::f32, {});
    EXPECT_THROW(state_quantity(volume, StoredAs::log), Error);
    volume.grid.type = VoxelType::complex64;
    EXPECT_THROW(state_quantity(volume, StoredAs::db), Error);
}

}  // namespace
}  // namespace echolux
