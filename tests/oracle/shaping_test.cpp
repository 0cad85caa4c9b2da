// Spectral shaping (docs/algorithms.md 3.9): a mirror's peak becomes that of the target spectrum for any source. The
// source here has two humps of different heights, a dip between them, and a dark level.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/oracle/chain.h"
#include "tests/oracle/peak.h"

namespace echolux {
namespace {

constexpr std::size_t n = 1024;
constexpr double mirror_bin = 200;
constexpr double dark_counts = 8200;

double position(std::size_t j) {
    return static_cast<double>(j) / (n - 1);
}

double bell(double u, double centre, double fwhm) {
    const double x = (u - centre) / fwhm;
    return std::exp(-4 * std::numbers::ln2 * x * x);
}

double source(double u) {
    return 2400 * (bell(u, 0.3, 0.45) + 0.7 * bell(u, 0.72, 0.4) + 0.25);
}

double fringe_phase(std::size_t j) {
    return 2 * std::numbers::pi * mirror_bin * static_cast<double>(j) / n;
}

double target(Shaping shaping, double u) {
    return shaping == Shaping::gaussian ? bell(u, 0.5, 0.5) : 0.5 * (1 - std::cos(2 * std::numbers::pi * u));
}

class SpectralShaping : public testing::TestWithParam<Shaping> {
  protected:
    ReconstructionSpec spec = plain_spec(n, 1);

    SpectralShaping() { spec.recipe.zero_padding = 4; }

    std::vector<double> shaped_profile(bool dark_known) {
        spec.recipe.shaping = GetParam();
        spec.recipe.window = Window::hann;  // replaced by the target
        spec.recipe.background = Background::stored;
        std::vector<float> line;
        for (std::size_t j = 0; j < n; ++j) {
            const double light = source(position(j));
            spec.calibration.background.push_back(dark_counts + light);
            if (dark_known) spec.calibration.dark.push_back(dark_counts);
            line.push_back(static_cast<float>(dark_counts + light * (1 + 0.1 * std::cos(fringe_phase(j)))));
        }
        return amplitudes(reconstructed<std::complex<float>>(spec, line));
    }

    std::vector<double> target_profile() {
        spec.recipe.window = Window::rect;
        std::vector<float> line;
        for (std::size_t j = 0; j < n; ++j) {
            line.push_back(static_cast<float>(target(GetParam(), position(j)) * std::cos(fringe_phase(j))));
        }
        return amplitudes(reconstructed<std::complex<float>>(spec, line));
    }
};

// Returns the highest value beyond the first minimum next to the peak.
double highest_side_lobe(const std::vector<double>& profile) {
    auto i = static_cast<std::size_t>(4 * mirror_bin);
    while (profile[i + 1] < profile[i]) ++i;
    return decibels(*std::max_element(profile.begin() + static_cast<std::ptrdiff_t>(i), profile.end()) /
                    profile[static_cast<std::size_t>(4 * mirror_bin)]);
}

TEST_P(SpectralShaping, PeakMatchesTarget) {
    const std::vector<double> wanted = target_profile();
    const std::vector<double> shaped = shaped_profile(true);
    EXPECT_NEAR(peak_of(shaped).fwhm, peak_of(wanted).fwhm, 0.01 * peak_of(wanted).fwhm);
    EXPECT_NEAR(peak_of(shaped).bin, 4 * mirror_bin, 0.02);
    EXPECT_NEAR(highest_side_lobe(shaped), highest_side_lobe(wanted), 1);
}

TEST_P(SpectralShaping, MissingDarkLevelWidensPeak) {
    const double wanted = peak_of(target_profile()).fwhm;
    EXPECT_GT(peak_of(shaped_profile(false)).fwhm, 1.01 * wanted);
}

// sum(g source) = sum(target), so a fringe of contrast 0.1 reads half of that.
TEST_P(SpectralShaping, PreservesContrastOfFringe) {
    EXPECT_NEAR(peak_of(shaped_profile(true)).height, 0.05, 0.01 * 0.05);
}

INSTANTIATE_TEST_SUITE_P(Targets, SpectralShaping, testing::Values(Shaping::gaussian, Shaping::hann),
                         [](const auto& test) { return test.param == Shaping::gaussian ? "gaussian" : "hann"; });

}  // namespace
}  // namespace echolux
