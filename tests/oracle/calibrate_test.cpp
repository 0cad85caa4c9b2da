// Components of the calibration: fits and minima with known answers, peaks in closed form, spectra counted by hand,
// entropies, common fringes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <random>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/fitting.h"
#include "compute/calibrate/mirrors.h"
#include "compute/error.h"
#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

TEST(PolynomialFit, FindsPolynomialAndItsPowers) {
    const std::vector<double> powers{3, -2, 0.5, 7, -1, 4};
    std::vector<double> x, y, weights;
    for (int i = 0; i < 200; ++i) {
        x.push_back(i / 100.0 - 1);
        double value = 0;
        for (std::size_t p = powers.size(); p-- > 0;) value = value * x.back() + powers[p];
        const bool counts = std::abs(x.back()) < 0.76;
        y.push_back(counts ? value : 1e6);
        weights.push_back(counts ? 1 + x.back() * x.back() : 0);
    }
    const PolynomialFit fit(x, y, weights, 5);
    const std::vector<double> found = fit.powers();
    ASSERT_EQ(found.size(), powers.size());
    for (std::size_t p = 0; p < powers.size(); ++p) EXPECT_NEAR(found[p], powers[p], 1e-8) << p;
    EXPECT_NEAR(fit(1), 11.5, 1e-8);
    EXPECT_THROW(PolynomialFit(x, y, std::vector<double>(x.size(), 0.0), 3), Error);
}

TEST(DepthPeak, IsExactBetweenBinsForGaussian) {
    for (const double centre : {40.0, 40.3, 40.5, 40.9}) {
        std::vector<double> profile;
        for (int z = 0; z < 100; ++z) {
            profile.push_back(7 * std::exp(-4 * std::numbers::ln2 * std::pow((z - centre) / 12, 2)));
        }
        const DepthPeak peak = strongest_peak(profile, 5, 100);
        EXPECT_NEAR(peak.bin, centre, 1e-9);
        EXPECT_NEAR(peak.height, 7, 1e-9);
        EXPECT_NEAR(peak.fwhm, 12, 0.02);
    }
}

TEST(DepthPeak, IsZeroWithoutPeak) {
    EXPECT_EQ(strongest_peak(std::vector<double>(10, 0.0), 2, 10).height, 0);
    EXPECT_EQ(strongest_peak(std::vector<double>{}, 0, 10).height, 0);
    EXPECT_EQ(strongest_peak(std::vector<double>{1, 2, 3}, 0, 3).fwhm, 0) << "no way down on the right";
}

TEST(LeastValue, IsFoundOnLineWithSideMinima) {
    const ValuesAt f = [](const std::vector<double>& places) {
        std::vector<double> values;
        for (const double x : places) values.push_back(std::cos(x) + 0.01 * (x - 20) * (x - 20));
        return values;
    };
    EXPECT_NEAR(min_along(f, 0, 40), 21.95, 0.01);  // the deepest of many minima
}

TEST(LeastValue, IsFoundInObliqueValley) {
    const auto f = [](double x, double y) { return std::pow(x - 3, 2) + 100 * std::pow(y - x + 1, 2); };
    const Minimum least = min_nearby(f, {0, 0}, 1);
    EXPECT_NEAR(least.place[0], 3, 1e-2);
    EXPECT_NEAR(least.place[1], 2, 1e-2);
}

TEST(SpectrumSurvey, CountsLinesOfFramesWithHeaders) {
    RawFormat format;
    format.bits = 12;
    ScanGeometry geometry{.samples = 3, .a_scans = 2, .b_scans = 2};
    const std::vector<std::uint16_t> bytes{9, 1, 2, 3, 3, 2, 4095, 9, 5, 5, 5, 7, 7, 4095};  // 9: frame headers
    Block block = block_of(bytes_of_lines(bytes), 0, 2);
    block.frames = {2, 14};
    ASSERT_EQ(lines_of(block, geometry), 4);

    SpectrumSurvey all(format, geometry);
    all.add(block, {0, 4});
    EXPECT_EQ(all.mean(), (std::vector<double>{4, 4, 8198 / 4.0}));
    EXPECT_EQ(all.min(), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(all.max(), (std::vector<double>{7, 7, 4095}));
    EXPECT_EQ(all.clipped(), 2);

    SpectrumSurvey second_frame(format, geometry);
    second_frame.add(block, {2, 1});
    EXPECT_EQ(second_frame.mean(), (std::vector<double>{5, 5, 5}));
    EXPECT_EQ(second_frame.clipped(), 0);
}

TEST(SpectrumSurvey, FullScaleIsLargestSample) {
    RawFormat format;
    EXPECT_EQ(full_scale(format), 65535);
    format.bits = 12;
    EXPECT_EQ(full_scale(format), 4095);
    format.bits = 0;
    format.shift = 4;
    EXPECT_EQ(full_scale(format), 4095);
    format.sample_format = SampleFormat::i16;
    format.shift = 0;
    EXPECT_EQ(full_scale(format), 32767);
    format.sample_format = SampleFormat::packed12;
    EXPECT_EQ(full_scale(format), 4095);
    format.sample_format = SampleFormat::f32;
    EXPECT_FALSE(full_scale(format).has_value());
}

TEST(WindowedSpectra, EqualLinesTimesWindow) {
    constexpr std::int64_t n = 64;
    ReconstructionSpec spec = plain_spec(n, 2);
    spec.recipe.window = Window::hann;
    std::vector<float> lines;
    std::vector<double> expected;
    for (const double cycles : {5.0, 11.25}) {
        for (std::int64_t p = 0; p < n; ++p) {
            const auto u = static_cast<double>(p);
            const double count = 3 + std::cos(2 * std::numbers::pi * cycles * u / n + 0.4);
            lines.push_back(static_cast<float>(count));
            expected.push_back(count * (0.5 - 0.5 * std::cos(2 * std::numbers::pi * u / (n - 1))));
        }
    }
    const std::vector<float> found = windowed_spectra(spec, block_of(bytes_of_lines(lines), 0, 1));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(double{found[i]}, expected[i], 1e-3) << i;
}

// Compared with direct sums in double over 4 lines of a prime length, one of them empty.
TEST(DepthEntropy, MatchesDirectSums) {
    constexpr std::int64_t points = 53, lines = 4, trials = 3;
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    SpectraOnGrid spectra{{}, points};
    for (std::int64_t i = 0; i < points * lines; ++i) {
        spectra.values.emplace_back(i < points ? 0 : normal(random), i < points ? 0 : 0.01F * normal(random));
    }
    std::vector<std::complex<float>> turns;
    for (std::int64_t i = 0; i < points * trials; ++i) turns.push_back(std::polar(1.0F, normal(random)));
    const std::vector<double> found = depth_entropy(spectra, {.backend = Backend::cpu})->of(turns);
    ASSERT_EQ(found.size(), 3U);
    for (std::size_t trial = 0; trial < found.size(); ++trial) {
        std::vector<double> power;
        for (std::size_t i = 0; i < spectra.values.size(); ++i) {
            const std::size_t first = i / points * points, z = i % points;
            std::complex<double> sum = 0;
            for (std::size_t j = 0; j < points; ++j) {
                const std::complex<double> value(spectra.values[first + j] * turns[trial * points + j]);
                sum += value * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * z % points) / points);
            }
            power.push_back(std::norm(sum));
        }
        const double all = std::accumulate(power.begin(), power.end(), 0.0);
        double entropy = 0;
        for (const double p : power) entropy -= p > 0 ? p / all * std::log(p / all) : 0;
        EXPECT_NEAR(found[trial], entropy, 1e-6);
    }
}

// ---- the part that all A-scans have in common: all for a mirror, almost none for speckle ---------------------------

constexpr std::int64_t n = 256, lines = 64;

CommonFringe fringe_of(bool same_phase) {
    ReconstructionSpec spec = with(ReconstructionSpec{}, "sample_format=f32 b_scans=1");
    spec.geometry.samples = n;
    spec.geometry.a_scans = lines;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> phase(0, 2 * std::numbers::pi);
    std::normal_distribution<double> noise(0, 0.5);
    std::vector<float> spectra;
    for (std::int64_t l = 0; l < lines; ++l) {
        const double start = same_phase ? 1.0 : phase(random);
        for (std::int64_t p = 0; p < n; ++p) {
            const double x = static_cast<double>(p) / n;
            const double source = 1000 * std::exp(-8 * (x - 0.5) * (x - 0.5));
            spectra.push_back(
                static_cast<float>(source + 20 * std::cos(2 * std::numbers::pi * 40 * x + start) + noise(random)));
        }
    }
    return strongest_common_fringe(spec, block_of(bytes_of_lines(spectra), 0, 1));
}

TEST(CommonFringe, CoversMirror) {
    const CommonFringe fringe = fringe_of(true);
    EXPECT_GT(fringe.share, 0.95);
    EXPECT_NEAR(static_cast<double>(fringe.bin), 40, 1);
}

TEST(CommonFringe, IsSmallForSpeckle) {
    EXPECT_LT(fringe_of(false).share, 0.3);
}

}  // namespace
}  // namespace echolux
