// Roll-off of simulated mirrors in closed form (docs/algorithms.md 0.1): samples of finite width lose 0.224, 0.912 and
// 3.922 dB at 0.25, 0.5 and 1 of the range, and the power of white noise depends on the window alone.
#include "compute/calibrate/mirrors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "compute/calibrate/calibrate.h"
#include "compute/error.h"
#include "tests/oracle/chain.h"

namespace echolux {
namespace {

using std::numbers::pi;

constexpr std::int64_t samples = 1024, lines = 200;
constexpr double amplitude = 1000;

// Amplitude of a fringe, with or without the factor sin(x) / x.
double spectrometer(double share, double resolution, bool has_wide_samples) {
    const double zeta = pi / 2 * share;
    const double gauss = std::exp(-resolution * resolution * zeta * zeta / (4 * std::numbers::ln2));
    return gauss * (has_wide_samples && zeta > 0 ? std::sin(zeta) / zeta : 1);
}

class RollOff : public testing::Test {
  protected:
    double noise_rms = 0;
    double resolution = 0;
    bool has_wide_samples = true;

    // Reads a mirror at that share of the range, from spectra linear in k.
    MirrorReading reading(double share) const {
        std::mt19937 random(7);
        std::normal_distribution<double> noise(0, 1);
        std::vector<float> spectra;
        const double height = amplitude * spectrometer(share, resolution, has_wide_samples);
        for (std::int64_t i = 0; i < samples * lines; ++i) {
            const double phase = pi * share * static_cast<double>(i % samples) + 0.1 * static_cast<double>(i / samples);
            spectra.push_back(static_cast<float>(height * std::cos(phase) + noise_rms * noise(random)));
        }
        ReconstructionSpec spec = plain_spec(samples, lines);
        spec.recipe.window = Window::hann;
        spec.recipe.zero_padding = points_per_bin;
        MeanProfile profile(spec);
        profile.add(block_of(bytes_of_lines(spectra), 0, 1));
        const auto found = mirror_reading(profile.root_mean_power(), profile.lines());
        EXPECT_TRUE(found.has_value()) << share;
        return found.value_or(MirrorReading{});
    }

    FallOff fall_off(const std::vector<double>& places) const {
        std::vector<double> shares, levels;
        for (const double place : places) {
            const MirrorReading found = reading(place);
            EXPECT_NEAR(found.bin, place * samples / 2, 0.02);
            shares.push_back(found.bin / (samples / 2));
            levels.push_back(found.level_db);
        }
        return fitted_fall_off(shares, levels);
    }
};

TEST_F(RollOff, ReadsSingleMirror) {
    noise_rms = 20;
    const MirrorReading found = reading(0.25);
    const double level = 20 * std::log10(amplitude / 2 * spectrometer(0.25, 0, true));
    const double noise = 10 * std::log10(1.5 * noise_rms * noise_rms / samples);  // 1.5: noise bandwidth of the window
    EXPECT_NEAR(found.level_db, level, 0.01);
    EXPECT_NEAR(found.snr_db, level - noise, 0.1);
    EXPECT_NEAR(found.fwhm_bins, 2.0, 0.01) << "the half amplitude of a Hann window";
}

TEST_F(RollOff, FitsSamplesOfFiniteWidth) {
    noise_rms = 1;
    const FallOff found = fall_off({0.1, 0.25, 0.5, 0.75, 0.9});
    EXPECT_TRUE(found.has_wide_samples);
    EXPECT_LT(found.resolution, 0.1);
    EXPECT_LT(found.rms_db, 0.01);
    for (const auto& [share, loss] : {std::pair{0.25, 0.224}, {0.5, 0.912}, {1.0, 3.922}}) {
        EXPECT_NEAR(found.level_db(share), 20 * std::log10(amplitude / 2) - loss, 0.01) << share;
    }
    EXPECT_FALSE(found.share_at_loss(6).has_value()) << "3.9 dB at the end";
}

TEST_F(RollOff, FitsSpectrometer) {
    noise_rms = 1;
    resolution = 1.3;
    const FallOff found = fall_off({0.1, 0.3, 0.5, 0.8});
    EXPECT_NEAR(found.resolution, resolution, 0.005);
    double share = 0;  // increased in small steps until 6 dB are lost
    while (20 * std::log10(spectrometer(share, resolution, true)) > -6) share += 1e-5;
    ASSERT_TRUE(found.share_at_loss(6).has_value());
    EXPECT_NEAR(*found.share_at_loss(6), share, 0.002);
    EXPECT_NEAR(found.at_zero_db, 20 * std::log10(amplitude / 2), 0.02);
}

// A swept source has no pixels: its fall-off is that of its coherence.
TEST_F(RollOff, FitsSweptSource) {
    has_wide_samples = false;
    resolution = 0.4;
    const FallOff found = fall_off({0.1, 0.3, 0.5, 0.8});
    EXPECT_FALSE(found.has_wide_samples);
    EXPECT_NEAR(found.resolution, resolution, 0.01);
}

TEST_F(RollOff, NoiseIsNotMirror) {
    std::mt19937 random(3);
    std::exponential_distribution<double> power(1);
    std::vector<double> profile(2048);
    for (double& a : profile) a = std::sqrt(power(random));
    EXPECT_FALSE(mirror_reading(profile, 1).has_value());
    EXPECT_FALSE(mirror_reading(std::vector<double>(2048, 0.0), 1).has_value());
}

// A profile of Hann-shaped peaks (bin, height) over flat noise.
std::vector<double> profile_of(const std::vector<std::pair<double, double>>& peaks) {
    std::vector<double> profile(512 * points_per_bin, 1e-3);
    for (std::size_t i = 0; i < profile.size(); ++i) {
        for (const auto& [bin, height] : peaks) {
            const double away = (static_cast<double>(i) / points_per_bin - bin) / 2;
            if (std::abs(away) < 1) profile[i] += height * (0.5 + 0.5 * std::cos(pi * away));
        }
    }
    return profile;
}

double read_bin(const std::vector<double>& profile, const DepthWindow& window = {}) {
    const auto reading = mirror_reading(profile, 100, window);
    return reading ? reading->bin : -1;
}

// The first twentieth of 512 bins ends at 26.
TEST_F(RollOff, ReadsTopOfMirrorAtEdge) {
    EXPECT_NEAR(read_bin(profile_of({{25.2, 100}})), 25.2, 0.05) << "its flank reaches in";
    EXPECT_NEAR(read_bin(profile_of({{0, 1000}, {25.2, 100}})), 25.2, 0.05);
    EXPECT_NEAR(read_bin(profile_of({{25.2, 100}, {300, 120}})), 300, 0.05) << "the strongest peak of the window";
}

TEST_F(RollOff, ReportsHigherPeakBeforeWindow) {
    const auto reading = mirror_reading(profile_of({{15, 100}, {200, 5}}), 100);
    ASSERT_TRUE(reading && reading->nearer_bin);
    EXPECT_NEAR(reading->bin, 200, 0.05);
    EXPECT_NEAR(*reading->nearer_bin, 15, 0.05);
    EXPECT_FALSE(mirror_reading(profile_of({{15, 10}, {200, 5}}), 100)->nearer_bin) << "6 dB: remains of the source";
    EXPECT_FALSE(mirror_reading(profile_of({{0, 1000}, {200, 5}}), 100)->nearer_bin) << "zero delay itself";
}

TEST_F(RollOff, WindowSelectsPeak) {
    const auto profile = profile_of({{15, 100}, {200, 50}, {400, 70}});
    EXPECT_NEAR(read_bin(profile, {10, 100}), 15, 0.05);
    EXPECT_NEAR(read_bin(profile, {100, 300}), 200, 0.05);
    EXPECT_NEAR(read_bin(profile, {300, 0}), 400, 0.05);
    EXPECT_EQ(read_bin(profile, {16, 100}), -1) << "the flank of a peak outside is none";
    EXPECT_EQ(read_bin(profile, {250, 350}), -1);
}

TEST_F(RollOff, NamesOutliers) {
    std::vector<double> shares, levels;
    for (int i = 1; i <= 9; ++i) {
        shares.push_back(0.1 * i);
        levels.push_back(60 + 20 * std::log10(spectrometer(0.1 * i, 1.2, true)) + 0.05 * (i % 3));
    }
    EXPECT_TRUE(fall_off_outliers(shares, levels).empty());
    levels[0] -= 17;
    const auto one = fall_off_outliers(shares, levels);
    ASSERT_EQ(one.size(), 1);
    EXPECT_EQ(one[0].mirror, 0);
    EXPECT_NEAR(one[0].from_fit_db, -17, 0.5);
    levels[6] += 5;
    const auto two = fall_off_outliers(shares, levels);
    ASSERT_EQ(two.size(), 2);
    EXPECT_EQ(two[1].mirror, 6);
    EXPECT_NEAR(two[1].from_fit_db, 5, 0.5);
    EXPECT_TRUE(fall_off_outliers(std::vector{0.1, 0.5, 0.9}, std::vector{60.0, 20.0, 55.0}).empty())
        << "three mirrors cannot outvote one";
}

TEST_F(RollOff, NeedsTwoDepths) {
    EXPECT_THROW(fitted_fall_off(std::vector{0.2}, std::vector{50.0}), Error);
    EXPECT_THROW(fitted_fall_off(std::vector{0.2, 0.5, 0.2002}, std::vector{50.0, 48.0, 50.0}), Error);
}

}  // namespace
}  // namespace echolux
