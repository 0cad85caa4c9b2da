// Search for a known dispersion (docs/algorithms.md 3.11): of single reflectors, with neighbours, and under fixed
// lines; its reported certainty, and its refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "compute/calibrate/dispersion_search.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

class DispersionSearched : public testing::Test {
  protected:
    static constexpr double a2 = 38, a3 = -9;
    const ClosedFormInstrument instrument;

    std::vector<double> theta_of(double second, double third) const {
        std::vector<double> theta;
        const auto& k = instrument.uniform_k;
        for (const double at : k) {
            const double kappa = 2 * (at - k.front()) / (k.back() - k.front()) - 1;
            theta.push_back((second + third * kappa) * kappa * kappa);
        }
        return theta;
    }

    // Lines with reflectors (depth in um, amplitude) and the dispersion.
    std::vector<float> lines(const std::vector<std::pair<double, double>>& reflectors, double noise, int count) const {
        return lines(reflectors, theta_of(a2, a3), noise, count);
    }

    std::vector<float> lines(const std::vector<std::pair<double, double>>& reflectors, const std::vector<double>& theta,
                             double noise, int count, unsigned seed = 5) const {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal;
        const auto& k = instrument.uniform_k;
        std::vector<float> spectra;
        for (int l = 0; l < count; ++l) {
            std::vector<double> line(k.size(), 0.0);
            for (const auto& [depth, amplitude] : reflectors) {
                const std::vector<float> fringe = instrument.fringe(k, depth + l, theta);
                for (std::size_t j = 0; j < k.size(); ++j) line[j] += amplitude * double{fringe[j]};
            }
            for (const double value : line) spectra.push_back(static_cast<float>(value + noise * normal(random)));
        }
        return spectra;
    }

    static ReconstructionSpec hann_spec(int count) {
        ReconstructionSpec spec = plain_spec(ClosedFormInstrument::samples, count);
        spec.recipe.window = Window::hann;
        return spec;
    }

    DispersionResult found(const std::vector<float>& spectra, int count, const DispersionSearch& search = {}) const {
        return searched_dispersion(hann_spec(count), block_of(bytes_of_lines(spectra), 0, 1), search,
                                   [](double) { return true; });
    }
};

// One reflector between two others of equal brightness with other dispersions, whose blur comes close to it. The
// fringes of other lines even have the wrong sign of dispersion.
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
        DispersionSearch search{.depth_begin = static_cast<std::int64_t>(instrument.bin_of(depth_um - reach_um)),
                                .depth_end = static_cast<std::int64_t>(instrument.bin_of(depth_um + reach_um)),
                                .line_begin = count / 2};
        return search;
    }
};

TEST_F(DispersionOfARegion, MatchesReflectorInRegion) {
    const DispersionResult chosen = found(spectra, count, around(406, 80));
    EXPECT_NEAR(chosen.a2_rad, a2, 0.2);
    EXPECT_NEAR(chosen.a3_rad, a3, 0.3);
    EXPECT_GT(std::abs(found(spectra, count).a2_rad - a2), 2)
        << "the others have to matter where they are not left out";
}

// The region is given in picture coordinates; the picture may be partly compensated.
TEST_F(DispersionOfARegion, IsFoundInPartlyCompensatedPicture) {
    ReconstructionSpec spec = hann_spec(count);
    set(spec, "dispersion=true a2_rad=30");
    spec.calibration.dispersion_rad = theta_of(5, 0);
    const DispersionResult chosen = searched_dispersion(spec, block_of(bytes_of_lines(spectra), 0, 1), around(406, 40),
                                                        [](double) { return true; });
    EXPECT_NEAR(chosen.a2_rad, a2 - 5, 0.2) << "beside what the file has";
    EXPECT_NEAR(chosen.a3_rad, a3, 0.3);
}

TEST_F(DispersionOfARegion, MustBeInsideBScan) {
    for (const auto& [begin, end] : {std::pair<std::int64_t, std::int64_t>{900, 1025}, {500, 400}, {-3, 20}}) {
        DispersionSearch search{.depth_begin = begin, .depth_end = end};
        EXPECT_THROW(found(spectra, count, search), Error) << begin;
    }
    DispersionSearch search;
    search.line_end = count + 1;
    EXPECT_THROW(found(spectra, count, search), Error);
}

// Lines of 40 dB: the square of the window's sum over the sum of its squares is 2048 / 1.5, and the peak is half of the
// fringe. One line determines a2 and a3 within 0.10 and 0.28 rad (60 noises in a float64 model; a fit of its phase 0.11
// and 0.26), so four are pooled: 0.05 and 0.14.
TEST_F(DispersionSearched, FindsDispersionOfMirror) {
    constexpr int noises = 6, count = 4;
    double a2_square = 0, a3_square = 0;
    for (unsigned seed = 0; seed < noises; ++seed) {
        const DispersionResult result = found(lines({{200, 1}}, theta_of(a2, a3), 0.16, count, seed), count);
        a2_square += std::pow(result.a2_rad - a2, 2) / noises;
        a3_square += std::pow(result.a3_rad - a3, 2) / noises;
        EXPECT_LT(result.entropy, result.entropy_before - 1);
    }
    EXPECT_LT(std::sqrt(a2_square), 0.1);
    EXPECT_LT(std::sqrt(a3_square), 0.2);
}

TEST_F(DispersionSearched, FindsDispersionOfLayers) {
    const auto spectra = lines({{150, 1}, {220, 0.3}, {310, 0.6}, {500, 0.2}, {640, 0.1}}, 0.05, 8);
    const DispersionResult result = found(spectra, 8);
    EXPECT_NEAR(result.a2_rad, a2, 0.2);
    EXPECT_NEAR(result.a3_rad, a3, 0.3);
}

// A line of constant depth and brightness in every A-scan, without dispersion and with drifting phase.
class FixedLine : public DispersionSearched {
  protected:
    static constexpr int count = 64;

    std::vector<float> under_a_fixed_line(std::vector<float> spectra, double amplitude) const {
        const std::size_t n = instrument.uniform_k.size();
        for (int l = 0; l < count; ++l) {
            for (std::size_t j = 0; j < n; ++j) {
                const double phase = 2 * std::numbers::pi * 300 * static_cast<double>(j) / static_cast<double>(n);
                spectra[index(l) * n + j] += static_cast<float>(amplitude * std::cos(phase + 1.3 * l));
            }
        }
        return spectra;
    }
};

TEST_F(FixedLine, IsIgnored) {
    const auto spectra = under_a_fixed_line(lines({{200, 1}, {310, 0.6}}, theta_of(a2, a3), 0.05, count), 4);
    const DispersionResult result = found(spectra, count);
    EXPECT_EQ(result.fixed_lines, 1);
    EXPECT_NEAR(result.a2_rad, a2, 0.2);
    EXPECT_NEAR(result.a3_rad, a3, 0.3);
    EXPECT_EQ(doubt_about(result, 80), "");
}

// In this case it is the mirror.
TEST_F(FixedLine, CountsIfNoOtherSignalIsSharp) {
    const DispersionResult result = found(under_a_fixed_line(lines({}, {}, 0.05, count), 1), count);
    EXPECT_EQ(result.fixed_lines, 0);
    EXPECT_NEAR(result.a2_rad, 0, 0.2);
    EXPECT_EQ(doubt_about(result, 80), "");
}

TEST_F(DispersionSearched, StaysWithinRange) {
    const auto spectra = lines({{200, 1}}, theta_of(a2, a3), 0.05, 8);
    DispersionSearch search;
    search.range_rad = 20;
    const DispersionResult result = found(spectra, 8, search);
    EXPECT_LE(std::abs(result.a2_rad), 20);
    EXPECT_LE(std::abs(result.a3_rad), 20);
    EXPECT_THAT(doubt_about(result, 20), testing::HasSubstr("limit of the range"));
    EXPECT_EQ(doubt_about(found(spectra, 8), 80), "");
}

TEST_F(DispersionSearched, IsSharpOnlyWithoutDoubts) {
    const DispersionResult good = found(lines({{200, 1}}, theta_of(a2, a3), 0.05, 8), 8);
    EXPECT_TRUE(is_sharp(good, 80));
    EXPECT_FALSE(is_sharp(good, std::abs(good.a2_rad))) << "at the end of its range";
    const auto changed = [&](const auto& change) {
        DispersionResult wrong = good;
        change(wrong);
        return wrong;
    };
    EXPECT_FALSE(is_sharp(changed([](auto& to) { to.a3_rad = std::numeric_limits<double>::quiet_NaN(); }), 80));
    EXPECT_FALSE(is_sharp(changed([](auto& to) { to.entropy_before = to.entropy - 0.1; }), 80))
        << "it was sharper before";
    EXPECT_FALSE(is_sharp(changed([](auto& to) { to.entropy_blurred = to.entropy; }), 80)) << "noise";
}

// Over many noises, the standard error is within a factor of 3 of the scatter of the results.
TEST_F(DispersionSearched, SlowReportsUncertainty) {
    constexpr int noises = 8, count = 16;
    double square = 0, error = 0;
    for (unsigned seed = 0; seed < noises; ++seed) {
        const DispersionResult result = found(lines({{200, 1}}, theta_of(a2, a3), 0.6, count, seed), count);
        ASSERT_TRUE(result.a2_error_rad.has_value());
        square += std::pow(result.a2_rad - a2, 2) / noises;
        error += *result.a2_error_rad / noises;
    }
    EXPECT_LT(std::sqrt(square), 3 * error);
    EXPECT_GT(std::sqrt(square), error / 3);
    EXPECT_FALSE(found(lines({{200, 1}}, theta_of(a2, a3), 0.1, 2), 2).a2_error_rad) << "two lines have no quarters";
}

// A parabolic error of the k map leaves a phase that grows with depth.
TEST_F(DispersionSearched, WrongKMapRaisesDoubt) {
    const auto spectra = lines({{200, 1}, {300, 0.5}, {600, 1}}, theta_of(0, 0), 0.05, 16);
    ReconstructionSpec spec = hann_spec(16);
    spec.recipe.resample = Resample::spline;
    const auto last = static_cast<double>(ClosedFormInstrument::samples - 1);
    for (std::int64_t j = 0; j < ClosedFormInstrument::samples; ++j) {
        const double u = 2 * static_cast<double>(j) / last - 1;
        spec.calibration.k_positions.push_back(static_cast<double>(j) + 60 * (1 - u * u));
    }
    spec.calibration.k_positions.back() = last;
    const auto searched = [&] {
        return searched_dispersion(spec, block_of(bytes_of_lines(spectra), 0, 1), {}, [](double) { return true; });
    };
    const DispersionResult wrong = searched();
    ASSERT_TRUE(wrong.a2_of_halves_rad);
    EXPECT_GT(std::abs((*wrong.a2_of_halves_rad)[1]), 2 * std::abs((*wrong.a2_of_halves_rad)[0]));
    EXPECT_THAT(doubt_about(wrong, 80), testing::HasSubstr("deeper half"));
    spec.calibration.k_positions.clear();
    EXPECT_EQ(doubt_about(searched(), 80), "");
}

TEST_F(DispersionSearched, RivalSolutionRaisesDoubt) {
    DispersionResult result = found(lines({{200, 1}}, theta_of(a2, a3), 0.05, 8), 8);
    result.rival = DispersionRival{-30, result.entropy + 1e-3};
    EXPECT_THAT(doubt_about(result, 80), testing::HasSubstr("as sharp at a2 -30.0 rad"));
    result.rival->entropy = result.entropy + 1;
    EXPECT_EQ(doubt_about(result, 80), "");
    result.a2_error_rad = 7;
    EXPECT_THAT(doubt_about(result, 80), testing::HasSubstr("uncertain by 7.0 rad"));
}

TEST_F(DispersionSearched, StopsWhenAskedTo) {
    const std::vector<float> spectra = lines({{200, 1}}, 0, 1);
    const ReconstructionSpec spec = plain_spec(ClosedFormInstrument::samples, 1);
    int asked = 0;
    const auto go_on = [&](double) { return ++asked < 5; };
    EXPECT_THROW(searched_dispersion(spec, block_of(bytes_of_lines(spectra), 0, 1), {}, go_on), Error);
    EXPECT_EQ(asked, 5);
}

TEST_F(DispersionSearched, RejectsEmptySpectra) {
    EXPECT_THROW(found(std::vector<float>(ClosedFormInstrument::samples, 0.0F), 1), Error);
}

}  // namespace
}  // namespace echolux
