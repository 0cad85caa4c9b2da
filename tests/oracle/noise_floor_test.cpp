// The noise floor of the mean A-scan (docs/algorithms.md 2.3) on pure noise, for which Rayleigh statistics give the
// remainder, and the reference level of display dB.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compute/calibrate/calibrate.h"
#include "compute/indexing.h"
#include "tests/oracle/chain.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t samples = 256, lines = 4000, depths = samples / 2;
constexpr double noise_rms = 3;

std::vector<float> noise() {
    std::mt19937 random(11);
    std::normal_distribution<float> value(0, static_cast<float>(noise_rms));
    std::vector<float> spectra(samples * lines);
    for (float& x : spectra) x = value(random);
    return spectra;
}

class NoiseOnly : public testing::Test {
  protected:
    const std::vector<float> spectra = noise();
    ReconstructionSpec spec = plain_spec(samples, lines);

    NoiseOnly() { set(spec, "quantity=amplitude voxel=f32"); }

    std::vector<double> mean_profile() const {
        const auto voxels = reconstructed<float>(spec, spectra);
        std::vector<double> mean(depths, 0.0);
        for (std::size_t i = 0; i < voxels.size(); ++i) mean[i % depths] += double{voxels[i]} / lines;
        return mean;
    }
};

TEST_F(NoiseOnly, SubtractedAmplitudeLeavesFifthOfNoise) {
    spec.calibration.noise_floor = mean_profile();
    spec.recipe.noise_floor = NoiseFloor::amplitude;
    const std::vector<double> left = mean_profile();
    double ratio = 0;
    for (std::size_t z = 1; z < depths; ++z) ratio += left[z] / spec.calibration.noise_floor[z] / (depths - 1);
    EXPECT_NEAR(ratio, 0.21, 0.005);
}

// Sums all blocks, independent of the plan's depth range and levels: eta = sqrt(pi) / 2 of the root mean power.
TEST_F(NoiseOnly, ProfileIsMeanOfAllBlocks) {
    ReconstructionSpec scan = spec;
    scan.geometry.a_scans = lines / 4;
    set(scan, "b_scans=4 depth_begin=20 quantity=db");
    scan.calibration.noise_floor.assign(depths, 1.0);
    scan.recipe.noise_floor = NoiseFloor::amplitude;
    MeanProfile profile(scan);
    for (std::int64_t b = 0; b < 4; ++b) {
        profile.add(block_of(bytes_of_lines(spectra).subspan(index(b * samples * (lines / 4)) * sizeof(float)), b, 1));
    }
    EXPECT_EQ(profile.lines(), lines);
    const std::vector<double> found = profile.amplitude(), expected = mean_profile(), root = profile.root_mean_power();
    ASSERT_EQ(found.size(), expected.size());
    double ratio = 0;
    for (std::size_t z = 1; z < depths; ++z) {
        EXPECT_NEAR(found[z], expected[z], 1e-5 * expected[z]);
        EXPECT_NEAR(root[z], noise_rms / std::sqrt(samples), 0.05 * root[z]);
        ratio += found[z] / root[z] / (depths - 1);
    }
    EXPECT_NEAR(ratio, std::sqrt(std::acos(-1.0)) / 2, 0.003);
}

// E[max(P - eta^2, 0)] = mean exp(-pi/4) for exponential P with eta^2 = pi/4 mean.
TEST_F(NoiseOnly, SubtractedPowerLeavesTailOfExponential) {
    spec.calibration.noise_floor = mean_profile();
    set(spec, "noise_floor=power quantity=intensity");
    const std::vector<double> left = mean_profile();
    const double mean_power = noise_rms * noise_rms / samples;
    double ratio = 0;
    for (std::size_t z = 1; z < depths; ++z) ratio += left[z] / mean_power / (depths - 1);
    EXPECT_NEAR(ratio, std::exp(-std::acos(-1.0) / 4), 0.01);
}

TEST_F(NoiseOnly, ZeroFloorChangesNoVoxel) {
    const auto before = reconstructed<float>(spec, spectra);
    spec.calibration.noise_floor.assign(depths, 0.0);
    for (const NoiseFloor mode : {NoiseFloor::amplitude, NoiseFloor::power}) {
        spec.recipe.noise_floor = mode;
        const auto after = reconstructed<float>(spec, spectra);
        for (std::size_t i = 0; i < before.size(); ++i) ASSERT_NEAR(after[i], before[i], 1e-6f * before[i]);
    }
}

// The median of an exponential distribution is ln 2 of its mean. The min. of 15 such medians, each accurate to 0.035
// dB, is slightly lower.
TEST_F(NoiseOnly, MeasuredLevelIsMedian) {
    spec.recipe.quantity = Quantity::db;
    spec.block_b_scans = 1;
    const double level = measured_noise_floor_db(spec, block_of(bytes_of_lines(spectra), 0, 1));
    EXPECT_NEAR(level, 10 * std::log10(noise_rms * noise_rms / samples * std::log(2.0)), 0.15);
}

TEST_F(NoiseOnly, LevelIsMeasuredBeforeSubtraction) {
    spec.recipe.quantity = Quantity::db;
    spec.block_b_scans = 1;
    const Block block = block_of(bytes_of_lines(spectra), 0, 1);
    const double level = measured_noise_floor_db(spec, block);
    spec.calibration.noise_floor.assign(depths, noise_rms);
    spec.recipe.noise_floor = NoiseFloor::amplitude;
    EXPECT_EQ(measured_noise_floor_db(spec, block), level);
}

TEST_F(NoiseOnly, UsesQuietestBand) {
    std::vector<float> louder = spectra;
    for (std::size_t i = 0; i < louder.size(); ++i) {  // light in the first half of the depth
        const double angle = 2.0 * std::acos(-1.0) * 21.3 * static_cast<double>(i % samples) / samples;
        louder[i] += static_cast<float>(400 * std::cos(angle));
    }
    set(spec, "quantity=db window=blackman_harris");
    spec.block_b_scans = 1;
    const double enbw = 2.005;
    const double level = measured_noise_floor_db(spec, block_of(bytes_of_lines(louder), 0, 1));
    EXPECT_NEAR(level, 10 * std::log10(enbw * noise_rms * noise_rms / samples * std::log(2.0)), 0.15);
}

TEST_F(NoiseOnly, SubtractsGivenLevel) {
    spec.recipe.quantity = Quantity::db;
    const auto absolute = reconstructed<float>(spec, spectra);
    set(spec, "levels=noise_floor noise_floor_db=-17.25");
    const auto above = reconstructed<float>(spec, spectra);
    for (std::size_t i = 0; i < above.size(); ++i) ASSERT_NEAR(above[i], absolute[i] + 17.25f, 1e-5);
    spec.recipe.noise_floor_db = 0;
    EXPECT_EQ(reconstructed<float>(spec, spectra), absolute);
}

}  // namespace
}  // namespace echolux
