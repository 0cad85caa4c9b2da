// Calibration of arrays through the C interface: means, noise, dispersion, refusals. tests/python calibrates with
// mirrors.
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

}  // namespace
}  // namespace echolux::test
