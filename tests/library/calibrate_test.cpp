// Calibration of arrays: means, noise, two mirrors, dispersion.
#include <cmath>
#include <limits>
#include <numbers>

#include "compute/plan/describe.h"
#include "fringes.h"

namespace echolux::test {
namespace {

constexpr std::int64_t samples = 1024;

// Spectrum of a mirror at `bin`, for a spectrometer with nonlinear k and some dispersion.
std::vector<double> mirror(double bin, double a2_rad = 6) {
    std::vector<double> counts;
    for (std::int64_t s = 0; s < samples; ++s) {
        const double x = static_cast<double>(s) / (samples - 1);
        const double k = x + 0.06 * x * (1 - x), u = 2 * k - 1;
        const double envelope = std::exp(-3 * u * u);
        const double phase = 2 * std::numbers::pi * bin * k * (samples - 1) / samples + a2_rad * u * u;
        counts.push_back(1000 + envelope * (3000 + 800 * std::cos(phase)));
    }
    return counts;
}

std::vector<double> background() {
    std::vector<double> counts;
    for (std::int64_t s = 0; s < samples; ++s) {
        const double x = static_cast<double>(s) / (samples - 1), u = 2 * (x + 0.06 * x * (1 - x)) - 1;
        counts.push_back(1000 + 3000 * std::exp(-3 * u * u));
    }
    return counts;
}

TEST(LibraryCalibrate, TwoMirrorsGiveMapAndDispersion) {
    const std::vector<double> near = mirror(60), far = mirror(160), dark(samples, 1000), light = background();
    std::vector<double> k(samples), theta(samples);
    auto given = lux::make<echolux_mirrors>();
    given.samples = samples;
    given.mirror_1 = near.data();
    given.mirror_2 = far.data();
    given.background = light.data();
    given.dark = dark.data();
    given.displacement_um = 300;
    auto found = lux::make<echolux_mirrors_found>();
    found.k_positions = k.data();
    found.dispersion_rad = theta.data();
    lux::checked([&](auto* e) { return echolux_calibrate_mirrors(&given, &found, e); });
    EXPECT_NEAR(found.bin[0], 60, 1);
    EXPECT_NEAR(found.bin[1], 160, 1.5);
    EXPECT_LT(found.fwhm[1], 0.6 * found.fwhm_before[1]);
    EXPECT_NEAR(found.depth_pitch_um, 3, 0.1);
    EXPECT_GT(k[samples / 2], k[0]);
    lux::Scan scan = lux::Scan::create(samples, 4, 1, "u16", fixed_levels);
    scan.set_calibration("k_positions", k);
    scan.set_calibration("dispersion_rad", theta);
    EXPECT_EQ(status_of([&] { lux::Reconstructor work(scan); }), ECHOLUX_OK);
}

TEST(LibraryCalibrate, RejectsInvalidMirrors) {
    const std::vector<double> near = mirror(60), far = mirror(160), flat(samples, 500);
    const auto with = [&](const auto& change) {
        auto given = lux::make<echolux_mirrors>();
        given.samples = samples;
        given.mirror_1 = near.data();
        given.mirror_2 = far.data();
        given.background = flat.data();
        change(given);
        auto found = lux::make<echolux_mirrors_found>();
        return echolux_calibrate_mirrors(&given, &found, nullptr);
    };
    std::vector<double> broken = near;
    broken[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(with([](echolux_mirrors& m) { m.samples = 0; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_mirrors& m) { m.samples = -1; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_mirrors& m) { m.mirror_2 = nullptr; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([&](echolux_mirrors& m) { m.mirror_1 = broken.data(); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(with([&](echolux_mirrors& m) { m.mirror_1 = m.mirror_2 = flat.data(); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(with([](echolux_mirrors& m) { m.displacement_um = -1; }), ECHOLUX_BAD_SETTING);
}

TEST(LibraryCalibrate, ComputesMeansAndNoise) {
    const Size size;
    const auto spectra = fringes(size);
    const lux::Scan scan = described(size);
    const echolux_block block = block_of(spectra, size, 0, 6);
    std::vector<double> mean(256);
    lux::checked([&](auto* e) { return echolux_mean_spectrum(scan.get(), &block, mean.data(), mean.size(), e); });
    double expected = 0;
    for (std::size_t line = 0; line < 72; ++line) expected += spectra[line * 256 + 100];
    EXPECT_NEAR(mean[100], expected / 72, 1e-9);
    EXPECT_EQ(echolux_mean_spectrum(scan.get(), &block, mean.data(), 255, nullptr), ECHOLUX_BAD_ARGUMENT);
    std::size_t bins = 0;
    lux::checked([&](auto* e) { return echolux_noise_profile(scan.get(), &block, nullptr, 0, &bins, e); });
    ASSERT_EQ(bins, 128u);
    std::vector<double> profile(bins);
    lux::checked([&](auto* e) { return echolux_noise_profile(scan.get(), &block, profile.data(), bins, &bins, e); });
    EXPECT_GT(profile[30], 5 * profile[100]) << "mirrors stand at bins 20 to 59";
    echolux_block on_device = block;
    on_device.memory = ECHOLUX_ON_DEVICE;
    double db = 0;
    EXPECT_EQ(echolux_measure_noise_floor(scan.get(), &on_device, &db, nullptr), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_measure_noise_floor(scan.get(), &block, nullptr, nullptr), ECHOLUX_BAD_ARGUMENT);
}

// A mirror blurred by dispersion, which the search must find.
class LibraryDispersion : public ::testing::Test {
  protected:
    LibraryDispersion() {
        for (int line = 0; line < 8; ++line) {
            for (std::int64_t s = 0; s < samples; ++s) {
                const double u = 2 * static_cast<double>(s) / (samples - 1) - 1;
                const double phase =
                    2 * std::numbers::pi * (150 + 10 * line) * static_cast<double>(s) / samples + 25 * u * u;
                spectra_.push_back(static_cast<std::uint16_t>(3000 + 900 * std::cos(phase)));
            }
        }
        block_.data = spectra_.data();
        block_.bytes = static_cast<std::int64_t>(spectra_.size() * 2);
        block_.b_scans = 1;
    }

    std::vector<std::uint16_t> spectra_;
    lux::Scan scan_ = lux::Scan::create(samples, 8, 1, "u16", fixed_levels);
    echolux_block block_ = lux::make<echolux_block>();
    echolux_dispersion_search search_ = lux::make<echolux_dispersion_search>();
    echolux_dispersion_found found_ = lux::make<echolux_dispersion_found>();

    echolux_status searched() {
        return echolux_search_dispersion(scan_.get(), &block_, &search_, nullptr, &found_, nullptr);
    }
};

TEST_F(LibraryDispersion, FindsDispersion) {
    ASSERT_EQ(searched(), ECHOLUX_OK);
    EXPECT_NEAR(std::abs(found_.a2_rad), 25, 1);
    EXPECT_LT(found_.entropy, found_.entropy_before);
    EXPECT_EQ(found_.is_sharp, 1);
}

TEST_F(LibraryDispersion, CanBeStoppedAndRejectsInvalidInput) {
    search_.progress = [](void*, const char*, std::int64_t, std::int64_t, const char*) { return 1; };
    EXPECT_EQ(searched(), ECHOLUX_CANCELLED);
    search_ = lux::make<echolux_dispersion_search>();
    search_.range_rad = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(searched(), ECHOLUX_BAD_ARGUMENT);
    search_.range_rad = 0;
    search_.depth_begin = 10000;
    EXPECT_EQ(searched(), ECHOLUX_BAD_SETTING);
    search_.depth_begin = 0;
    search_.lines = -1;
    EXPECT_EQ(searched(), ECHOLUX_BAD_ARGUMENT);
    search_.lines = 0;
    found_.size = 0;
    EXPECT_EQ(searched(), ECHOLUX_BAD_ARGUMENT);
}

// Lines of a mirror form a block of one B-scan. Their amplitude falls by 2 dB per step.
TEST(LibraryCalibrate, MirrorsAtSeveralDepthsGiveFallOff) {
    constexpr std::int64_t lines = 8, bins = samples / 2;
    const lux::Scan scan = lux::Scan::create(samples, lines, 1, "f32", {plain_recipe, "recipe.levels=fixed"});
    std::vector<double> found_bins, levels;
    const std::vector<double> without(samples, 2000);
    for (int step = 1; step <= 4; ++step) {
        std::vector<float> spectra;
        std::uint32_t random = 1;
        const double amplitude = 900 * std::pow(10, -0.1 * step), bin = 80.0 * step;
        for (std::int64_t i = 0; i < lines * samples; ++i) {
            random = random * 1664525u + 1013904223u;
            const double phase = 2 * std::numbers::pi * bin * static_cast<double>(i % samples) / samples;
            spectra.push_back(static_cast<float>(2000 + amplitude * std::cos(phase) + (random >> 27)));
        }
        auto block = lux::make<echolux_block>();
        block.data = spectra.data();
        block.bytes = static_cast<std::int64_t>(spectra.size() * sizeof(float));
        block.b_scans = 1;
        const echolux_mirror_reading reading = scan.mirror(block, without);
        EXPECT_NEAR(reading.bin, bin, 0.6);
        EXPECT_EQ(reading.lines, lines);
        EXPECT_EQ(reading.bins, bins);
        EXPECT_GT(reading.snr_db, 20);
        found_bins.push_back(reading.bin);
        levels.push_back(reading.level_db);
        EXPECT_EQ(status_of([&] { scan.mirror(block, without, 5, 5); }), ECHOLUX_BAD_ARGUMENT);
        EXPECT_EQ(status_of([&] { scan.mirror(block, std::vector<double>(3)); }), ECHOLUX_BAD_ARGUMENT);
    }
    EXPECT_NEAR(levels[0] - levels[3], 6, 0.3);
    auto fit = lux::make<echolux_roll_off>();
    lux::checked([&](auto* e) { return echolux_fit_roll_off(found_bins.data(), levels.data(), 4, bins, &fit, e); });
    EXPECT_GT(fit.six_db_bin, 200);
    EXPECT_LT(fit.six_db_bin, 400);
    EXPECT_GT(fit.at_zero_db, levels[1]);
    EXPECT_EQ(echolux_fit_roll_off(found_bins.data(), levels.data(), 1, bins, &fit, nullptr), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(echolux_fit_roll_off(found_bins.data(), levels.data(), 4, 0, &fit, nullptr), ECHOLUX_BAD_ARGUMENT);
}

}  // namespace
}  // namespace echolux::test
