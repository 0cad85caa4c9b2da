// Attenuation coefficients compared with layers of known coefficients: light falls as exp(-2 mu z), and each voxel
// backscatters the same fraction of the light it attenuates.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/attenuation/attenuation.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

constexpr std::int64_t above = 40, tissue = 700, depth = above + tissue;
constexpr double row_um = 1.4;
constexpr double per_mm[] = {2, 5, 1, 3};  // four layers of 175 rows

double truth(std::int64_t z) {
    return per_mm[(z - above) / (tissue / 4)];
}

// Returns the intensities of one A-scan with a maximum of 1: dark above the tissue, which continues below the last row.
std::vector<double> decay() {
    std::vector<double> light(depth);
    double left = 1, brightest = 0;
    for (std::int64_t z = above; z < above + tissue; ++z) {
        const double lost = 1 - std::exp(-2 * truth(z) * row_um / 1000);
        light[index(z)] = left * lost;
        left *= 1 - lost;
        brightest = std::max(brightest, light[index(z)]);
    }
    for (double& one : light) one /= brightest;
    return light;
}

Volume volume_of(std::int64_t a_scans, std::int64_t b_scans, double snr_db, unsigned seed) {
    Volume volume = make_volume({.depth = depth,
                                 .a_scans = a_scans,
                                 .b_scans = b_scans,
                                 .spacing_um = {row_um, 5, 5},
                                 .quantity = "intensity"});
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    const std::vector<double> light = decay();
    std::mt19937 random(seed);
    std::exponential_distribution<double> speckle(1);
    const double noise = std::pow(10, -snr_db / 10);
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) {
        const double power = light[index(i % volume.grid.depth)];
        values[i] = static_cast<float>(snr_db > 0 ? (power + noise) * speckle(random) : power);
    }
    return volume;
}

// Returns the relative error of the mean over a layer and all A-scans in %, without the layer's first and last rows.
double bias_percent(const Volume& found, std::int64_t layer) {
    constexpr std::int64_t rows = tissue / 4, edge = 10;
    const auto* values = reinterpret_cast<const float*>(found.voxels.data());
    double sum = 0, count = 0;
    for (std::int64_t line = 0; line < found.grid.a_scans * found.grid.b_scans; ++line) {
        for (std::int64_t z = above + layer * rows + edge; z < above + (layer + 1) * rows - edge; ++z) {
            const float value = values[line * found.grid.depth + z];
            if (std::isnan(value)) continue;
            sum += static_cast<double>(value);
            count += 1;
        }
    }
    return count > 0 ? 100 * (sum / count / per_mm[layer] - 1) : 1e9;
}

Volume found_in(const Volume& volume, AttenuationRecipe recipe, AttenuationStats* stats = nullptr) {
    SilentProgress silent;
    AttenuationStats own;
    return attenuation_of(volume, recipe, stats == nullptr ? own : *stats, silent);
}

TEST(Attenuation, IsExactForDecay) {
    AttenuationRecipe recipe{.window_a_scans = 1, .window_b_scans = 1, .noise_floor_db = -200};
    const Volume found = found_in(volume_of(2, 1, 0, 1), recipe);
    EXPECT_EQ(found.grid.quantity, "attenuation");
    EXPECT_EQ(found.grid.unit, "1/mm");
    for (std::int64_t layer = 0; layer < 4; ++layer) EXPECT_LT(std::abs(bias_percent(found, layer)), 0.2) << layer;
}

TEST(Attenuation, MatchesMeanOfSpeckle) {
    for (const auto& [snr_db, most] : {std::pair{30.0, 3.0}, std::pair{20.0, 6.0}}) {
        AttenuationRecipe recipe{
            .window_a_scans = 20, .window_b_scans = 20, .noise_floor_db = -snr_db + 10 * std::log10(std::numbers::ln2)};
        const Volume found = found_in(volume_of(20, 20, snr_db, 5), recipe);
        for (std::int64_t layer = 0; layer < 4; ++layer)
            EXPECT_LT(std::abs(bias_percent(found, layer)), most)
                << bias_percent(found, layer) << " at " << snr_db << " dB, layer " << layer;
    }
}

TEST(Attenuation, FindsNoiseFloor) {
    AttenuationRecipe recipe;
    recipe.window_a_scans = recipe.window_b_scans = 20;
    AttenuationStats stats;
    const Volume found = found_in(volume_of(20, 20, 20, 5), recipe, &stats);
    EXPECT_NEAR(stats.noise_floor_db, -20 + 10 * std::log10(std::numbers::ln2), 0.7);
    for (std::int64_t layer = 0; layer < 3; ++layer) EXPECT_LT(std::abs(bias_percent(found, layer)), 10) << layer;
}

// Roll-off and focus multiply the intensity; their known parts are divided out.
TEST(Attenuation, CorrectsRollOffAndFocus) {
    Volume volume = volume_of(1, 1, 0, 1);
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    for (std::int64_t z = 0; z < volume.grid.depth; ++z) {
        const double um = static_cast<double>(z) * row_um;
        values[z] *= static_cast<float>(std::pow(10, -0.5 * um / 1000) / (1 + std::pow((um - 300) / 400, 2)));
    }
    AttenuationRecipe recipe{.window_a_scans = 1, .window_b_scans = 1, .noise_floor_db = -200};
    double uncorrected = 0;
    for (std::int64_t layer = 0; layer < 4; ++layer)
        uncorrected = std::max(uncorrected, std::abs(bias_percent(found_in(volume, recipe), layer)));
    EXPECT_GT(uncorrected, 20);
    recipe.roll_off_db_per_mm = 5;
    recipe.focus_um = 300;
    recipe.rayleigh_um = 400;
    for (std::int64_t layer = 0; layer < 4; ++layer)
        EXPECT_LT(std::abs(bias_percent(found_in(volume, recipe), layer)), 0.3) << layer;
}

// Constant brightness down to the last row does not reveal how much tissue is below.
TEST(Attenuation, IsUnknownForConstantEnd) {
    Volume volume = volume_of(1, 1, 0, 1);
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    for (std::int64_t z = 500; z < volume.grid.depth; ++z) values[z] = 0.2F * values[499];
    AttenuationRecipe recipe{.window_a_scans = 1, .window_b_scans = 1, .noise_floor_db = -200};
    AttenuationStats stats;
    const Volume found = found_in(volume, recipe, &stats);
    const auto* mu = reinterpret_cast<const float*>(found.voxels.data());
    EXPECT_EQ(stats.no_tail, 1);
    EXPECT_TRUE(std::isnan(mu[volume.grid.depth - 1]));
    EXPECT_TRUE(std::isnan(mu[volume.grid.depth - 20]));
    EXPECT_FALSE(std::isnan(mu[100]));
}

TEST(Attenuation, IsUnknownForNoise) {
    Volume volume = volume_of(8, 8, 20, 3);
    std::mt19937 random(1);
    std::exponential_distribution<float> noise(1);
    auto* values = reinterpret_cast<float*>(volume.voxels.data());
    for (std::int64_t i = 0; i < volume.grid.voxels(); ++i) values[i] = noise(random);
    AttenuationRecipe recipe;
    recipe.noise_floor_db = 10 * std::log10(std::numbers::ln2);
    AttenuationStats stats;
    found_in(volume, recipe, &stats);
    EXPECT_EQ(stats.known, 0);
}

TEST(Attenuation, RequiresIntensities) {
    Volume volume = volume_of(1, 1, 0, 1);
    volume.grid.quantity = "velocity";
    EXPECT_THROW(found_in(volume, {}), Error);
    volume.grid.quantity = "db";
    volume.grid.spacing_um = {0, 5, 5};
    EXPECT_THROW(found_in(volume, {}), Error);
}

TEST(Attenuation, HasSameBitsForAnyNumberOfThreads) {
    const Volume volume = volume_of(9, 7, 20, 2);
    set_thread_count(1);
    const Volume one = found_in(volume, {});
    set_thread_count(4);
    const Volume four = found_in(volume, {});
    set_thread_count(0);
    EXPECT_EQ(one.voxels, four.voxels);
}

}  // namespace
}  // namespace echolux
