// Tables of the fast transform that only the GPU uses, and the pairing of lines, tested on the host without a GPU.
#include <gtest/gtest.h>

#include "compute/cuda/line_pairs.h"
#include "compute/cuda/nufft.h"
#include "compute/cuda/transform.h"
#include "compute/indexing.h"
#include "tests/oracle/nufft_truths.h"

namespace echolux {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> transformed(const std::vector<Complex>& points, double direction) {
    const auto n = static_cast<double>(points.size());
    std::vector<Complex> bins(points.size());
    for (std::size_t k = 0; k < bins.size(); ++k) {
        for (std::size_t j = 0; j < points.size(); ++j) {
            const double turns = std::fmod(static_cast<double>(j * k), n) / n;
            bins[k] += points[j] * std::polar(1.0, direction * 2 * std::numbers::pi * turns);
        }
    }
    return bins;
}

std::vector<Complex> in_pairs(const std::vector<double>& line) {
    std::vector<Complex> points;
    for (std::size_t j = 0; j < line.size(); j += 2) points.emplace_back(line[j], line[j + 1]);
    return points;
}

Complex combined(const float4& factors, const std::vector<Complex>& bins, std::size_t k) {
    return Complex(factors.x, factors.y) * bins[k] +
           Complex(factors.z, factors.w) * std::conj(bins[(bins.size() - k) % bins.size()]);
}

std::vector<double> line_of_noise(std::size_t length) {
    std::mt19937 random(3);
    std::normal_distribution<double> value;
    std::vector<double> line(length);
    for (double& sample : line) sample = value(random);
    return line;
}

TEST(HalfLengthTransform, GivesBinsOfRealLine) {
    const std::vector<double> line = line_of_noise(32);
    const auto half = transformed(in_pairs(line), -1), whole = transformed({line.begin(), line.end()}, -1);
    const auto factors = cuda::spectrum_factors(16, 2, std::vector<float>(14, 3.0f));
    ASSERT_EQ(factors.size(), 14u);
    for (std::size_t z = 2; z < 16; ++z) {
        EXPECT_LE(std::abs(combined(factors[z - 2], half, z) - 3.0 * whole[z]), 1e-5) << z;
    }
}

// The line is a trigonometric polynomial of 32 samples, with a cosine as its Nyquist term, evaluated between the
// samples.
TEST(HalfLengthTransform, ShiftsLineByFractionsOfSample) {
    const std::vector<double> line = line_of_noise(32);
    const auto spectrum = transformed({line.begin(), line.end()}, -1), half = transformed(in_pairs(line), -1);
    const auto value_at = [&](double place) {
        Complex sum = spectrum[0];
        for (std::size_t k = 1; k <= 16; ++k) {
            const Complex term =
                spectrum[k] * std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k) * place / 32);
            sum += k < 16 ? 2 * term.real() : spectrum[16].real() * std::cos(std::numbers::pi * place);
        }
        return sum.real() / 32;
    };
    for (const std::int64_t upsample : {2, 4}) {
        const auto factors = cuda::shift_factors(16, upsample);
        ASSERT_EQ(std::ssize(factors), 16 * (upsample - 1));
        for (std::int64_t phase = 1; phase < upsample; ++phase) {
            std::vector<Complex> bins;
            for (std::size_t k = 0; k < 16; ++k) {
                bins.push_back(combined(factors[index(16 * (phase - 1)) + k], half, k));
            }
            const auto shifted = transformed(bins, 1);
            for (std::size_t i = 0; i < 32; ++i) {
                const double found = i % 2 == 0 ? shifted[i / 2].real() : shifted[i / 2].imag();
                const double place =
                    static_cast<double>(i) + static_cast<double>(phase) / static_cast<double>(upsample);
                EXPECT_NEAR(found, value_at(place), 1e-6) << upsample << ", " << phase << ", " << i;
            }
        }
    }
}

// Spreading by the taps equals spreading by the CPU's tables, with complex grids rotated back from the middle of their
// band.
class SpreadTaps : public testing::TestWithParam<double> {
  protected:
    // Equal to the CPU's bins except for a common factor.
    static void expect_bins_of_the_cpu(const ReconstructionSpec& spec, const std::vector<float>& noise,
                                       const NufftTables& tables, const std::vector<Complex>& points) {
        const auto cpu = reconstructed<std::complex<float>>(spec, noise);
        const std::vector<Complex> bins = transformed(points, -1);
        Complex scale;
        double norm = 0, error = 0;
        for (std::size_t z = 0; z < cpu.size(); ++z) {
            const Complex bin = double{tables.correction[z]} * bins[z];
            scale += Complex(cpu[z]) * std::conj(bin);
            norm += std::norm(bin);
        }
        scale /= norm;
        for (std::size_t z = 0; z < cpu.size(); ++z) {
            error += std::norm(Complex(cpu[z]) - scale * double{tables.correction[z]} * bins[z]);
        }
        EXPECT_LE(std::sqrt(error / norm), 1e-6 * std::abs(scale));
    }
};

TEST_P(SpreadTaps, MatchCpu) {
    const SampledNoise scene;
    ReconstructionSpec spec = scene.spec_for({GridKernel::kaiser_bessel, 2, 5});
    spec.recipe.dispersion = true;
    spec.recipe.a2_rad = GetParam();
    const NufftTables tables = nufft_tables(spec);
    const GridTaps grid = grid_taps(tables);
    EXPECT_EQ(tables.real, GetParam() == 0);
    ASSERT_EQ(grid.points, SampledNoise::n);
    ASSERT_EQ(tables.grid, tables.real ? 2 * SampledNoise::n : SampledNoise::n) << "one side only where it is complex";
    ASSERT_EQ(tables.middle, tables.real ? 0 : SampledNoise::n / 4);
    std::vector<Complex> expected(index(tables.grid)), found;
    for (std::size_t g = 0; g < expected.size(); ++g) {
        for (std::int32_t i = tables.spread.begin[g]; i < tables.spread.begin[g + 1]; ++i) {
            const auto entry = index(i);
            const auto p = index(tables.spread.samples[entry]);
            expected[g] += double{tables.spread.weights[entry]} * Complex(tables.weights[p]) * double{scene.noise[p]};
        }
    }
    for (std::size_t g = 0; g < expected.size(); ++g) {
        const double turns = static_cast<double>(tables.middle) * static_cast<double>(g);
        expected[g] *= std::polar(1.0, 2 * std::numbers::pi * turns / static_cast<double>(tables.grid));
    }
    for (std::int64_t j = 0; j < grid.points; ++j) {
        Complex sum;
        for (std::int64_t m = 0; m < grid.taps; ++m) {
            const std::int64_t p = grid.base[index(j)] + m;
            ASSERT_LT(p, SampledNoise::n + grid.repeated);
            sum += Complex(grid.weights[index(m * grid.points + j)]) * double{scene.noise[index(p % SampledNoise::n)]};
        }
        if (!tables.real) found.push_back(sum);
        if (tables.real) found.insert(found.end(), {sum.real(), sum.imag()});
    }
    double most = 0, greatest = 0;
    for (std::size_t g = 0; g < expected.size(); ++g) {
        most = std::max(most, std::abs(found[g] - expected[g]));
        greatest = std::max(greatest, std::abs(expected[g]));
    }
    EXPECT_LE(most, 3e-7 * greatest);
    if (!tables.real) expect_bins_of_the_cpu(spec, scene.noise, tables, found);
    EXPECT_GT(grid.repeated, 0) << "the first point of the grid has samples of both ends";
    EXPECT_LE(grid.taps, tables.real ? 5 : 6);  // W = 5; samples of a chirped map may be denser than points
}

INSTANTIATE_TEST_SUITE_P(Weights, SpreadTaps, testing::Values(0.0, 30.0),
                         [](const auto& test) { return test.param == 0 ? "real" : "complex"; });

TEST(LinePairs, HaveEveryLineOnceAndOneBackground) {
    struct Case {
        std::int64_t lines, frame_lines, first_line;
    };
    for (const auto& [lines, frame_lines, first_line] :
         {Case{7, 0, 5}, Case{8, 4, 0}, Case{21, 7, 0}, Case{10, 7, 6}, Case{3, 7, 2}, Case{12, 1, 4}, Case{9, 5, 4},
          Case{1, 5, 4}, Case{1, 4, 3}, Case{1, 0, 0}}) {
        const cuda::LinePairs pairs(lines, {.frame_lines = frame_lines, .first_line = first_line});
        std::vector<int> times(index(lines));
        for (unsigned i = 0; i < pairs.count(); ++i) {
            const auto [a, b] = pairs.at(i);
            if (a < 0) continue;
            ASSERT_LT(b, lines);
            ++times[index(a)];
            if (b == a) continue;
            ++times[index(b)];
            if (frame_lines > 0) {
                EXPECT_EQ((first_line + a) / frame_lines, (first_line + b) / frame_lines);
            }
        }
        EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << lines << ", " << frame_lines << ", " << first_line;
    }
}

}  // namespace
}  // namespace echolux
