// The parts of calibration: fits and minima with known answers, peaks in closed form, spectra counted by hand, and
// dispersion found in profiles of known dispersion (docs/algorithms.md 3.11).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <random>

#include "compute/calibrate/depth_peak.h"
#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/least_value.h"
#include "compute/calibrate/polynomial_fit.h"
#include "compute/calibrate/probe.h"
#include "compute/calibrate/spectrum_survey.h"
#include "compute/error.h"
#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"

namespace echolux {
namespace {

TEST(PolynomialFit, FindsThePolynomialAndItsPowers) {
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

TEST(DepthPeak, OfAGaussianIsExactBetweenBins) {
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

TEST(DepthPeak, OfNothingIsNothing) {
    EXPECT_EQ(strongest_peak(std::vector<double>(10, 0.0), 2, 10).height, 0);
    EXPECT_EQ(strongest_peak(std::vector<double>{}, 0, 10).height, 0);
    EXPECT_EQ(strongest_peak(std::vector<double>{1, 2, 3}, 0, 3).fwhm, 0) << "no way down on the right";
}

TEST(LeastValue, IsFoundAlongALineAmongSideMinima) {
    const ValuesAt f = [](const std::vector<double>& places) {
        std::vector<double> values;
        for (const double x : places) values.push_back(std::cos(x) + 0.01 * (x - 20) * (x - 20));
        return values;
    };
    EXPECT_NEAR(min_along(f, 0, 40), 21.95, 0.01);  // the deepest of many
}

TEST(LeastValue, IsFoundInAnObliqueValley) {
    const auto f = [](double x, double y) { return std::pow(x - 3, 2) + 100 * std::pow(y - x + 1, 2); };
    const Minimum least = min_nearby(f, {0, 0}, 1);
    EXPECT_NEAR(least.place[0], 3, 1e-2);
    EXPECT_NEAR(least.place[1], 2, 1e-2);
}

TEST(SpectrumSurvey, CountsLinesOfFramesWithHeaders) {
    RawFormat format;
    format.bits = 12;
    ScanGeometry geometry;
    geometry.samples = 3;
    geometry.a_scans = 2;
    geometry.b_scans = 2;
    const std::vector<std::uint16_t> bytes{9, 1, 2, 3, 3, 2, 4095, 9, 5, 5, 5, 7, 7, 4095};  // 9: headers of a frame
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

TEST(SpectrumSurvey, FullScaleIsWhatASampleCanHold) {
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

TEST(WindowedSpectra, AreTheLinesUnderTheWindow) {
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

// Direct sums in double over 4 lines of a length that nothing divides, one of them empty.
TEST(DepthEntropy, IsThatOfTheDirectSums) {
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

class DispersionSearched : public testing::Test {
  protected:
    static constexpr double a2 = 38, a3 = -9;
    const Instrument instrument;

    std::vector<double> theta_of(double second, double third) const {
        std::vector<double> theta;
        const auto& k = instrument.uniform_k;
        for (const double at : k) {
            const double kappa = 2 * (at - k.front()) / (k.back() - k.front()) - 1;
            theta.push_back((second + third * kappa) * kappa * kappa);
        }
        return theta;
    }

    // Lines of reflectors (depth in um, amplitude) with the dispersion.
    std::vector<float> lines(const std::vector<std::pair<double, double>>& reflectors, double noise, int count) const {
        return lines(reflectors, theta_of(a2, a3), noise, count);
    }

    std::vector<float> lines(const std::vector<std::pair<double, double>>& reflectors, const std::vector<double>& theta,
                             double noise, int count, unsigned seed = 5) const {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal(0, noise);
        const auto& k = instrument.uniform_k;
        std::vector<float> spectra;
        for (int l = 0; l < count; ++l) {
            std::vector<double> line(k.size(), 0.0);
            for (const auto& [depth, amplitude] : reflectors) {
                const std::vector<float> fringe = instrument.fringe(k, depth + l, theta);
                for (std::size_t j = 0; j < k.size(); ++j) line[j] += amplitude * double{fringe[j]};
            }
            for (const double value : line) spectra.push_back(static_cast<float>(value + normal(random)));
        }
        return spectra;
    }

    static ReconstructionSpec hann_spec(int count) {
        ReconstructionSpec spec = plain_spec(Instrument::samples, count);
        spec.recipe.window = Window::hann;
        return spec;
    }

    DispersionFound found(const std::vector<float>& spectra, int count, const DispersionSearch& search = {}) const {
        return searched_dispersion(hann_spec(count), block_of(bytes_of_lines(spectra), 0, 1), search,
                                   [](double) { return true; });
    }
};

// One reflector as bright as its neighbours behind and before it, which lie in glass of their own; their blur comes
// near to its own, and the fringes of other lines are not even of the right sign.
class DispersionOfARegion : public DispersionSearched {
  protected:
    static constexpr int count = 12;
    std::vector<float> spectra = lines({{400, 1}}, 0.05, count);

    DispersionOfARegion() {
        for (const auto& [depth, second] : {std::pair{150.0, -10.0}, {650.0, 70.0}}) {
            const std::vector<float> other = lines({{depth, 1}}, theta_of(second, 12), 0, count);
            for (std::size_t i = 0; i < spectra.size(); ++i) spectra[i] += other[i];
        }
        const std::vector<float> wrong = lines({{400, 3}}, theta_of(-a2, a3), 0, count / 2);
        std::copy(wrong.begin(), wrong.end(), spectra.begin());
    }

    DispersionSearch around(double depth_um, double reach_um) const {
        DispersionSearch search;
        search.depth_begin = static_cast<std::int64_t>(instrument.bin_of(depth_um - reach_um));
        search.depth_end = static_cast<std::int64_t>(instrument.bin_of(depth_um + reach_um));
        search.line_begin = count / 2;
        return search;
    }
};

TEST_F(DispersionOfARegion, IsThatOfItsReflector) {
    const DispersionFound chosen = found(spectra, count, around(406, 80));
    EXPECT_NEAR(chosen.a2_rad, a2, 0.2);
    EXPECT_NEAR(chosen.a3_rad, a3, 0.3);
    EXPECT_GT(std::abs(found(spectra, count).a2_rad - a2), 2)
        << "the others have to matter where they are not left out";
}

// The region is where the reflector stands in the picture, which may be partly compensated.
TEST_F(DispersionOfARegion, IsFoundFromWhateverThePlanHas) {
    ReconstructionSpec spec = hann_spec(count);
    spec.recipe.dispersion = true;
    spec.recipe.a2_rad = 30;
    spec.calibration.dispersion_rad = theta_of(5, 0);
    const DispersionFound chosen = searched_dispersion(spec, block_of(bytes_of_lines(spectra), 0, 1), around(406, 40),
                                                       [](double) { return true; });
    EXPECT_NEAR(chosen.a2_rad, a2 - 5, 0.2) << "beside what the file has";
    EXPECT_NEAR(chosen.a3_rad, a3, 0.3);
}

TEST_F(DispersionOfARegion, LiesWithinTheBScan) {
    for (const auto& [begin, end] : {std::pair<std::int64_t, std::int64_t>{900, 1025}, {500, 400}, {-3, 20}}) {
        DispersionSearch search;
        search.depth_begin = begin;
        search.depth_end = end;
        EXPECT_THROW(found(spectra, count, search), Error) << begin;
    }
    DispersionSearch search;
    search.line_end = count + 1;
    EXPECT_THROW(found(spectra, count, search), Error);
}

// Lines of 40 dB: the window's sum squared over the sum of its squares is 2048 / 1.5, the peak half the fringe. One of
// them says no more than 0.10 and 0.28 rad (over 60 noises in a float64 model; the fit of its phase 0.11 and 0.26), so
// that four are pooled: 0.05 and 0.14.
TEST_F(DispersionSearched, IsThatOfAMirror) {
    constexpr int noises = 6, count = 4;
    double a2_square = 0, a3_square = 0;
    for (unsigned seed = 0; seed < noises; ++seed) {
        const DispersionFound result = found(lines({{200, 1}}, theta_of(a2, a3), 0.16, count, seed), count);
        a2_square += std::pow(result.a2_rad - a2, 2) / noises;
        a3_square += std::pow(result.a3_rad - a3, 2) / noises;
        EXPECT_LT(result.entropy, result.entropy_before - 1);
    }
    EXPECT_LT(std::sqrt(a2_square), 0.1);
    EXPECT_LT(std::sqrt(a3_square), 0.2);
}

TEST_F(DispersionSearched, IsThatOfLayers) {
    const auto spectra = lines({{150, 1}, {220, 0.3}, {310, 0.6}, {500, 0.2}, {640, 0.1}}, 0.05, 8);
    const DispersionFound result = found(spectra, 8);
    EXPECT_NEAR(result.a2_rad, a2, 0.2);
    EXPECT_NEAR(result.a3_rad, a3, 0.3);
}

// Of every A-scan as bright at one depth, without dispersion, while its phase drifts.
class FixedLine : public DispersionSearched {
  protected:
    static constexpr int count = 64;

    std::vector<float> under_a_fixed_line(std::vector<float> spectra, double amplitude) const {
        const std::size_t n = instrument.uniform_k.size();
        for (int l = 0; l < count; ++l) {
            for (std::size_t j = 0; j < n; ++j) {
                const double phase = 2 * std::numbers::pi * 300 * static_cast<double>(j) / static_cast<double>(n);
                spectra[static_cast<std::size_t>(l) * n + j] +=
                    static_cast<float>(amplitude * std::cos(phase + 1.3 * l));
            }
        }
        return spectra;
    }
};

TEST_F(FixedLine, HasNoSay) {
    const auto spectra = under_a_fixed_line(lines({{200, 1}, {310, 0.6}}, theta_of(a2, a3), 0.05, count), 4);
    const DispersionFound result = found(spectra, count);
    EXPECT_EQ(result.fixed_lines, 1);
    EXPECT_NEAR(result.a2_rad, a2, 0.2);
    EXPECT_NEAR(result.a3_rad, a3, 0.3);
    EXPECT_EQ(doubt_about(result, 80), "");
}

// Then it is the mirror.
TEST_F(FixedLine, CountsWhereNothingElseIsSharp) {
    const DispersionFound result = found(under_a_fixed_line(lines({}, {}, 0.05, count), 1), count);
    EXPECT_EQ(result.fixed_lines, 0);
    EXPECT_NEAR(result.a2_rad, 0, 0.2);
    EXPECT_EQ(doubt_about(result, 80), "");
}

TEST_F(DispersionSearched, StaysWithinItsRange) {
    const auto spectra = lines({{200, 1}}, theta_of(a2, a3), 0.05, 8);
    DispersionSearch search;
    search.range_rad = 20;
    const DispersionFound result = found(spectra, 8, search);
    EXPECT_LE(std::abs(result.a2_rad), 20);
    EXPECT_LE(std::abs(result.a3_rad), 20);
    EXPECT_THAT(doubt_about(result, 20), testing::HasSubstr("end of the range"));
    EXPECT_EQ(doubt_about(found(spectra, 8), 80), "");
}

// Over many noises the standard error is what the answers scatter by: not a third of it, nor three times as much.
TEST_F(DispersionSearched, SaysHowSureItIs) {
    constexpr int noises = 8, count = 16;
    double square = 0, error = 0;
    for (unsigned seed = 0; seed < noises; ++seed) {
        const DispersionFound result = found(lines({{200, 1}}, theta_of(a2, a3), 0.6, count, seed), count);
        ASSERT_TRUE(result.a2_error_rad.has_value());
        square += std::pow(result.a2_rad - a2, 2) / noises;
        error += *result.a2_error_rad / noises;
    }
    EXPECT_LT(std::sqrt(square), 3 * error);
    EXPECT_GT(std::sqrt(square), error / 3);
    EXPECT_FALSE(found(lines({{200, 1}}, theta_of(a2, a3), 0.1, 2), 2).a2_error_rad) << "two lines have no quarters";
}

TEST_F(DispersionSearched, TwoAnswersAreNone) {
    DispersionFound result = found(lines({{200, 1}}, theta_of(a2, a3), 0.05, 8), 8);
    result.rival = DispersionRival{-30, result.entropy + 1e-3};
    EXPECT_THAT(doubt_about(result, 80), testing::HasSubstr("as sharp at a2 -30.0 rad"));
    result.rival->entropy = result.entropy + 1;
    EXPECT_EQ(doubt_about(result, 80), "");
    result.a2_error_rad = 7;
    EXPECT_THAT(doubt_about(result, 80), testing::HasSubstr("uncertain by 7.0 rad"));
}

TEST_F(DispersionSearched, StopsWhenAskedTo) {
    const std::vector<float> spectra = lines({{200, 1}}, 0, 1);
    const ReconstructionSpec spec = plain_spec(Instrument::samples, 1);
    int asked = 0;
    try {
        searched_dispersion(spec, block_of(bytes_of_lines(spectra), 0, 1), {}, [&](double) { return ++asked < 5; });
        FAIL() << "went on";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
    EXPECT_EQ(asked, 5);
}

TEST_F(DispersionSearched, RefusesEmptiness) {
    EXPECT_THROW(found(std::vector<float>(Instrument::samples, 0.0F), 1), Error);
}

}  // namespace
}  // namespace echolux
