// Detection of layers and vessels in painted volumes, which have steps and tubes at exact positions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/analysis/tissue_structure.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

constexpr std::int64_t depth = 160, a_scans = 48, b_scans = 40;

double surface_row(std::int64_t a, std::int64_t b) {
    return 30.25 + 0.1 * static_cast<double>(a) + 0.05 * static_cast<double>(b);
}

// Speckle of exponential intensity with the mean `brightness(rows below the surface, a, b)`.
template <class Brightness>
Volume speckled(const Brightness& brightness) {
    Volume volume =
        make_volume({.depth = depth, .a_scans = a_scans, .b_scans = b_scans, .type = VoxelType::f32, .quantity = "db"});
    auto* db = reinterpret_cast<float*>(volume.voxels.data());
    std::mt19937 random(7);
    std::exponential_distribution<double> speckle(1.0);
    for (std::int64_t b = 0; b < b_scans; ++b) {
        for (std::int64_t a = 0; a < a_scans; ++a) {
            for (std::int64_t z = 0; z < depth; ++z) {
                const double below = static_cast<double>(z) - surface_row(a, b);
                *db++ = static_cast<float>(10 * std::log10(brightness(below, a, b) * (speckle(random) + 1e-6)));
            }
        }
    }
    return volume;
}

double layered(double below) {
    if (below < 0) return 1;
    if (below < 25) return 300;
    return below < 70 ? 60 : 200;
}

TEST(Layers, BoundariesAreFoundWithinVoxel) {
    const Volume volume = speckled([](double below, std::int64_t, std::int64_t) { return layered(below); });
    const Layers layers = find_layers(volume, 3);
    const double expected[] = {0, 25, 70};
    for (std::size_t n = 0; n < 3; ++n) {
        std::int64_t within = 0;
        for (std::int64_t b = 0; b < b_scans; ++b) {
            for (std::int64_t a = 0; a < a_scans; ++a) {
                // A voxel is bright if its centre is below the boundary, so the step is up to half a row above it.
                const double truth = std::ceil(surface_row(a, b) + expected[n]) - 0.5;
                const float found = layers.boundaries[n][index(b * a_scans + a)];
                within += std::abs(static_cast<double>(found) - truth) <= 1;
            }
        }
        EXPECT_GE(within, a_scans * b_scans * 97 / 100) << "boundary " << n;
    }
}

TEST(Layers, RejectTooManyBoundaries) {
    const Volume volume = speckled([](double below, std::int64_t, std::int64_t) { return layered(below); });
    EXPECT_THROW(find_layers(volume, 40), Error);
}

TEST(Layers, ComplexVoxelsAreRefused) {
    Volume volume;
    volume.grid.type = VoxelType::complex64;
    EXPECT_THROW(find_layers(volume, 1), Error);
}

TEST(Vessels, TubeIsFoundEnFace) {
    const auto in_tube = [](double below, std::int64_t a) {
        return std::hypot(below - 40, 2.0 * (static_cast<double>(a) - 20)) < 12;
    };
    const Volume volume = speckled([&](double below, std::int64_t a, std::int64_t) {
        return below < 0 ? 1.0 : in_tube(below, a) ? 400.0 : 100.0;
    });
    std::vector<float> surface;
    std::vector<std::uint8_t> truth;
    for (std::int64_t b = 0; b < b_scans; ++b) {
        for (std::int64_t a = 0; a < a_scans; ++a) {
            surface.push_back(static_cast<float>(surface_row(a, b)));
            truth.push_back(std::abs(static_cast<double>(a) - 20) < 6 ? 1 : 0);
        }
    }
    EXPECT_GE(dice(find_vessels(volume, surface, 10, 75), truth), 0.9);
    EXPECT_THROW(find_vessels(volume, surface, 75, 75), Error);
}

TEST(Vessels, DiceOfMasks) {
    EXPECT_EQ(dice({1, 1, 0, 0}, {1, 1, 0, 0}), 1.0);
    EXPECT_EQ(dice({1, 1, 0, 0}, {0, 0, 1, 1}), 0.0);
    EXPECT_EQ(dice({1, 1, 0, 0}, {0, 1, 1, 0}), 0.5);
}

// A few voxels are computed one by one, many by a table: the bits are the same.
TEST(LinearIntensity, HasSameBitsForFewAndManyVoxels) {
    for (const VoxelType type : {VoxelType::u8, VoxelType::i16}) {
        Volume many;
        many.grid.type = type;
        many.grid.depth = 100;
        many.grid.a_scans = 100;
        many.grid.b_scans = 10;
        many.grid.scale = 0.003;
        many.grid.offset = -5;
        many.grid.quantity = "db";
        std::mt19937 random(11);
        for (std::int64_t i = 0; i < many.grid.bytes(); ++i) many.voxels.push_back(static_cast<std::byte>(random()));
        Volume few = many;
        few.grid.a_scans = few.grid.b_scans = 1;
        few.voxels.resize(index(few.grid.bytes()));
        const std::vector<float> of_many = linear_intensity(many), of_few = linear_intensity(few);
        EXPECT_TRUE(std::ranges::equal(of_few, std::span(of_many).first(of_few.size())));
    }
}

TEST(Smooth, KeepsConstantAndWidensPeakBySigma) {
    const Size3 size{41, 3, 2};
    std::vector<float> constant(41 * 6, 2.5f);
    smooth(constant, size, {2, 1, 1});
    EXPECT_THAT(constant, testing::Each(testing::FloatNear(2.5f, 1e-5f)));

    std::vector<float> peak(41, 0.0f);
    peak[20] = 1;
    smooth(peak, {41, 1, 1}, {2, 0, 0});
    double sum = 0, square = 0;
    for (int i = 0; i < 41; ++i) {
        sum += static_cast<double>(peak[index(i)]);
        square += static_cast<double>(peak[index(i)]) * (i - 20) * (i - 20);
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NEAR(std::sqrt(square), 2, 0.03);  // the tails beyond 3 sigma are cut off
}

}  // namespace
}  // namespace echolux
