// Input of the transform after up-sampling and interpolation (docs/algorithms.md 2.5, 3.4): the points of the k grid
// are recovered from the complex depth profile by an inverse transform in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "tests/oracle/chain.h"

namespace echolux {
namespace {

using std::numbers::pi;

constexpr std::size_t n = 256;

// Returns the chain's points of the k grid for one line. With zero_padding 2, the one-sided profile lacks only the bin
// at n, which follows from the zeros behind the line.
std::vector<double> points_of(ReconstructionSpec spec, const std::vector<float>& line) {
    spec.recipe.zero_padding = 2;
    const auto field = reconstructed<std::complex<float>>(spec, line);
    std::vector<double> sums;
    for (std::size_t j = 0; j < 2 * n; ++j) {
        double value = static_cast<double>(field[0].real());
        for (std::size_t b = 1; b < n; ++b) {
            const double angle = pi * static_cast<double>(b * j % (2 * n)) / n;
            value += 2 * (std::complex<double>(field[b]) * std::polar(1.0, angle)).real();
        }
        sums.push_back(value / 2);  // n points of scale 1 / n, divided by 2 n
    }
    double last_bin = 0;
    for (std::size_t j = n; j < 2 * n; ++j) last_bin += (j % 2 == 0 ? -1 : 1) * sums[j] / n;
    for (std::size_t j = 0; j < n; ++j) sums[j] += (j % 2 == 0 ? 1 : -1) * last_bin;
    sums.resize(n);
    return sums;
}

std::vector<double> positions(double first, double last) {
    std::vector<double> at;
    for (std::size_t j = 0; j < n; ++j) at.push_back(first + (last - first) * static_cast<double>(j) / (n - 1));
    return at;
}

ReconstructionSpec spec_at(std::vector<double> at, Resample resample, std::int64_t upsample) {
    ReconstructionSpec spec = plain_spec(n, 1);
    spec.calibration.k_positions = std::move(at);
    spec.recipe.resample = resample;
    spec.recipe.upsample = upsample;
    return spec;
}

std::vector<float> random_line() {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> value(-1, 1);
    std::vector<float> line(n);
    for (float& x : line) x = value(random);
    return line;
}

double dirichlet(double d, double period) {
    const double turns = std::remainder(d, period);
    return turns == 0 ? 1 : std::sin(pi * turns) / (period * std::tan(pi * turns / period));
}

TEST(Upsampling, ImpulseBecomesDirichletKernel) {
    std::vector<float> impulse(n, 0.0f);
    impulse[100] = 1;
    for (const std::int64_t factor : {2, 4}) {
        // nearest at multiples of 1 / factor returns the up-sampled line itself
        const double step = 1 / static_cast<double>(factor);
        const auto at = positions(90, 90 + static_cast<double>(n - 1) * step);
        const std::vector<double> points = points_of(spec_at(at, Resample::nearest, factor), impulse);
        for (std::size_t j = 0; j < n; ++j) ASSERT_NEAR(points[j], dirichlet(at[j] - 100, n), 1e-6) << at[j];
    }
}

TEST(Upsampling, PaddedImpulseHasPaddedPeriod) {
    std::vector<float> impulse(n, 0.0f);
    impulse[100] = 1;
    const auto at = positions(90, 90 + (n - 1) * 0.5);
    ReconstructionSpec spec = spec_at(at, Resample::nearest, 2);
    spec.recipe.upsample_pad = true;
    const std::vector<double> points = points_of(spec, impulse);
    for (std::size_t j = 0; j < n; ++j) ASSERT_NEAR(points[j], dirichlet(at[j] - 100, 2048), 1e-6) << at[j];
}

TEST(Upsampling, KeepsRecordedSamples) {
    const std::vector<float> line = random_line();
    for (const bool pad : {false, true}) {
        for (const std::int64_t factor : {1, 2, 4}) {
            ReconstructionSpec spec = spec_at(positions(0, n - 1), Resample::nearest, factor);
            spec.recipe.upsample_pad = pad;
            const std::vector<double> points = points_of(spec, line);
            for (std::size_t j = 0; j < n; ++j) ASSERT_NEAR(points[j], line[j], 1e-6) << factor << " " << j;
        }
    }
}

TEST(Interpolation, KeepsConstantsAtAnyPosition) {
    const std::vector<float> constant(n, 1000.0f);
    for (const Resample resample :
         {Resample::nearest, Resample::linear, Resample::catmull_rom, Resample::lagrange3, Resample::spline}) {
        const auto points = points_of(spec_at(positions(-2.3, n + 1.2), resample, 1), constant);
        for (std::size_t j = 0; j < n; ++j) ASSERT_NEAR(points[j], 1000, 1e-3) << j;
    }
}

// Exact up to the ends, where the base row is clamped and t leaves 0..1.
TEST(Interpolation, LagrangeIsExactOnCubics) {
    const auto cubic = [](double p) {
        const double u = p / (n - 1);
        return 1 + u * (2 + u * (-7 + 5 * u));
    };
    std::vector<float> line;
    for (std::size_t p = 0; p < n; ++p) line.push_back(static_cast<float>(cubic(static_cast<double>(p))));
    for (const auto& at : {positions(0.1, n - 1.05), positions(n - 1.4, 0.3), positions(100.2, 121.9)}) {
        const auto points = points_of(spec_at(at, Resample::lagrange3, 1), line);
        for (std::size_t j = 0; j < n; ++j) ASSERT_NEAR(points[j], cubic(at[j]), 1e-5) << at[j];
    }
}

TEST(Interpolation, PositionsBeyondEndsUseEndSamples) {
    const std::vector<float> line = random_line();
    for (const Resample resample :
         {Resample::nearest, Resample::linear, Resample::catmull_rom, Resample::lagrange3, Resample::spline}) {
        const auto points = points_of(spec_at(positions(-0.6, n - 0.4), resample, 1), line);
        EXPECT_NEAR(points.front(), line.front(), 2e-6);
        EXPECT_NEAR(points.back(), line.back(), 2e-6);
    }
}

TEST(Interpolation, LinearMatchesFormula) {
    const std::vector<float> line = random_line();
    const auto at = positions(0, n - 1.5);
    const auto points = points_of(spec_at(at, Resample::linear, 1), line);
    for (std::size_t j = 0; j < n; ++j) {
        const auto left = static_cast<std::size_t>(at[j]);
        const double t = at[j] - static_cast<double>(left);
        ASSERT_NEAR(points[j], (1 - t) * double{line[left]} + t * double{line[left + 1]}, 1e-6);
    }
}

}  // namespace
}  // namespace echolux
