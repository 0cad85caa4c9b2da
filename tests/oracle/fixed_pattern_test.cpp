// Fixed lines in depth (docs/algorithms.md 2.2, Moon 2010): 512 lines of speckle over 256 depths, three fixed lines,
// and one specular depth that is bright in 200 lines only and that a mean mistakes for a fixed line.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <random>

#include "tests/oracle/chain.h"

namespace echolux {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t depths = 256, lines = 512, samples = 2 * depths;
constexpr std::size_t specular_depth = 90;
const std::map<std::size_t, Complex> fixed_lines{{30, {3, 0}}, {60, {0, 2}}, {150, {-1.06, 1.06}}};

Complex fixed_amplitude(std::size_t z) {
    const auto found = fixed_lines.find(z);
    return found == fixed_lines.end() ? Complex{} : found->second;
}

// [line][depth]
std::vector<Complex> scene() {
    std::mt19937 random(7);
    std::normal_distribution<double> part(0, 0.5 / std::numbers::sqrt2);
    std::vector<Complex> field(lines * depths);
    for (std::size_t l = 0; l < lines; ++l) {
        for (std::size_t z = 1; z < depths; ++z) {
            field[l * depths + z] = Complex(part(random), part(random)) + fixed_amplitude(z);
        }
        if (l >= 100 && l < 300) field[l * depths + specular_depth] += std::polar(20.0, 0.8);
    }
    return field;
}

// Real spectra whose one-sided transform, divided by the number of samples, is `field`.
std::vector<float> spectra_of(const std::vector<Complex>& field) {
    std::vector<Complex> turn;
    for (std::size_t i = 0; i < samples; ++i) {
        turn.push_back(std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(i) / samples));
    }
    std::vector<float> spectra(lines * samples);
    for (std::size_t l = 0; l < lines; ++l) {
        for (std::size_t p = 0; p < samples; ++p) {
            double value = 0;
            for (std::size_t z = 1; z < depths; ++z) {
                const Complex a = field[l * depths + z], t = turn[p * z % samples];
                value += a.real() * t.real() - a.imag() * t.imag();
            }
            spectra[l * samples + p] = static_cast<float>(2 * value);
        }
    }
    return spectra;
}

struct Errors {
    double rms = 0;       // over all depths
    double specular = 0;  // at the specular depth
};

class FixedLines : public testing::Test {
  protected:
    const std::vector<Complex> field = scene();
    const std::vector<float> spectra = spectra_of(field);

    // Error of the pattern that the mode subtracted from the first line.
    Errors errors_of(FixedPattern mode) const {
        ReconstructionSpec spec = plain_spec(samples, lines);
        spec.recipe.fixed_pattern = mode;
        const auto left = reconstructed<std::complex<float>>(spec, spectra);
        Errors errors;
        for (std::size_t z = 1; z < depths; ++z) {
            const double error = std::abs(field[z] - Complex(left[z]) - fixed_amplitude(z));
            errors.rms += error * error / depths;
            if (z == specular_depth) errors.specular = error;
        }
        errors.rms = std::sqrt(errors.rms);
        return errors;
    }

    Errors errors_of_the_mean() const {
        Errors errors;
        for (std::size_t z = 1; z < depths; ++z) {
            Complex mean = 0;
            for (std::size_t l = 0; l < lines; ++l) mean += field[l * depths + z] / double{lines};
            const double error = std::abs(mean - fixed_amplitude(z));
            errors.rms += error * error / depths;
            if (z == specular_depth) errors.specular = error;
        }
        errors.rms = std::sqrt(errors.rms);
        return errors;
    }
};

TEST_F(FixedLines, MeanMistakesReflectorForFixedLine) {
    EXPECT_NEAR(errors_of_the_mean().rms, 0.487, 0.01);
    EXPECT_NEAR(errors_of_the_mean().specular, 7.79, 0.1);
}

TEST_F(FixedLines, MedianFindsFixedLines) {
    const Errors median = errors_of(FixedPattern::median);
    EXPECT_NEAR(median.rms, 0.039, 0.006);
    EXPECT_LT(median.specular, errors_of_the_mean().specular / 10);
}

TEST_F(FixedLines, SegmentWithSmallestVarianceFindsFixedLines) {
    const Errors least = errors_of(FixedPattern::minimum_variance);
    EXPECT_NEAR(least.rms, 0.062, 0.01);
    EXPECT_LT(least.specular, errors_of_the_mean().specular / 10);
}

TEST_F(FixedLines, WithoutModeRemovesNoLine) {
    EXPECT_NEAR(errors_of(FixedPattern::none).specular, 0, 1e-5);
    EXPECT_NEAR(errors_of(FixedPattern::none).rms, std::sqrt((9.0 + 4 + 2.2472) / depths), 1e-4);
}

// Identical lines contain only the pattern, so nothing remains.
TEST_F(FixedLines, RemovesIdenticalLines) {
    std::vector<float> same;
    for (std::size_t l = 0; l < 16; ++l) same.insert(same.end(), spectra.begin(), spectra.begin() + samples);
    for (const FixedPattern mode : {FixedPattern::median, FixedPattern::minimum_variance}) {
        ReconstructionSpec spec = plain_spec(samples, 16);
        spec.recipe.fixed_pattern = mode;
        for (const auto a : reconstructed<std::complex<float>>(spec, same)) ASSERT_NEAR(std::abs(a), 0, 1e-6);
    }
}

}  // namespace
}  // namespace echolux
