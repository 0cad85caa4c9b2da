// The fast transform of samples where they lie (docs/algorithms.md 7) against sums over their true wavenumbers in
// double, for each kernel, oversampling and width of the published table of errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "compute/error.h"
#include "compute/methods/spreading_kernel.h"
#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"

namespace echolux {
namespace {

using std::numbers::pi;
using Field = std::vector<std::complex<float>>;

class FastTransform : public testing::Test {
  protected:
    static constexpr std::int64_t n = Instrument::samples;

    const Instrument instrument;
    const std::vector<float> noise = [] {
        std::mt19937 random(5);
        std::normal_distribution<float> value;
        std::vector<float> line(n);
        for (float& sample : line) sample = value(random);
        return line;
    }();

    ReconstructionPlan plan_for(const NufftRecipe& nufft) const {
        ReconstructionPlan plan = plain_plan(n, 1);
        plan.recipe.resample = Resample::nufft;
        plan.calibration.wavelengths_nm = instrument.wavelengths_nm;
        plan.nufft = nufft;
        return plan;
    }

    // Over the true k of the samples, each with its share of the grid and its phase; by the length of the grid.
    std::vector<std::complex<double>> direct_sum(const std::vector<float>& line, double a2 = 0) const {
        const std::vector<double>& k = instrument.pixel_k;
        const double k_min = instrument.uniform_k.front(), k_max = instrument.uniform_k.back();
        const double last = static_cast<double>(n - 1), step = (k_max - k_min) / last;
        std::vector<std::complex<double>> terms, turns;
        for (std::size_t p = 0; p < k.size(); ++p) {
            const std::size_t left = p == 0 ? 0 : p - 1, right = std::min(p + 1, k.size() - 1);
            const double share = (k[left] - k[right]) / step / static_cast<double>(right - left);
            const double u = (k[p] - k_min) / (k_max - k_min), kappa = 2 * u - 1;
            terms.push_back(share * double{line[p]} * std::polar(1.0, -a2 * kappa * kappa) / double{n});
            turns.push_back(std::polar(1.0, -2 * pi * u * last / double{n}));
        }
        std::vector<std::complex<double>> bins(n / 2);
        for (std::complex<double>& bin : bins) {
            for (std::size_t p = 0; p < terms.size(); ++p) {
                bin += terms[p];
                terms[p] *= turns[p];
            }
        }
        return bins;
    }
};

double relative_l2(const Field& measured, const std::vector<std::complex<double>>& expected) {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        error += std::norm(std::complex<double>(measured.at(i)) - expected[i]);
        norm += std::norm(expected[i]);
    }
    return std::sqrt(error / norm);
}

// Table 4.4: R, W, errors of the three kernels.
struct Row {
    double oversampling;
    std::int64_t width;
    std::array<double, 3> errors;
};

constexpr std::array<Row, 13> table{{{1.25, 3, {5.0e-2, 2.2e-2, 3.8e-2}},
                                     {1.25, 5, {1.8e-2, 1.1e-3, 1.8e-3}},
                                     {1.5, 3, {3.3e-2, 9.8e-3, 1.7e-2}},
                                     {1.5, 5, {4.9e-3, 2.2e-4, 3.5e-4}},
                                     {1.5, 6, {2.2e-3, 3.5e-5, 4.9e-5}},
                                     {2, 2, {5.4e-2, 4.3e-2, 5.8e-2}},
                                     {2, 3, {2.2e-2, 4.2e-3, 6.8e-3}},
                                     {2, 4, {6.6e-3, 4.2e-4, 1.4e-3}},
                                     {2, 5, {1.7e-3, 4.5e-5, 7.5e-5}},
                                     {2, 6, {7.0e-4, 4.8e-6, 7.2e-6}},
                                     {2, 8, {6.1e-5, 5.4e-8, 1.1e-7}},
                                     {2, 10, {6.1e-6, 6.3e-10, 1.5e-9}},
                                     {2, 12, {8.3e-7, 7.4e-12, 1.5e-11}}}};

TEST_F(FastTransform, IsAsAccurateAsItsKernel) {
    const auto expected = direct_sum(noise);
    constexpr std::array kernels{GridKernel::gaussian, GridKernel::kaiser_bessel, GridKernel::exponential};
    for (const Row& row : table) {
        const double floor = row.oversampling == 2 ? 3e-7 : row.oversampling == 1.5 ? 6e-7 : 6e-6;  // of float
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const ReconstructionPlan plan = plan_for({kernels[i], row.oversampling, row.width});
            const double error = relative_l2(reconstructed<std::complex<float>>(plan, noise), expected);
            EXPECT_LE(error, std::max(1.5 * row.errors[i], floor))
                << "R " << row.oversampling << ", W " << row.width << ", kernel " << i;
            if (row.errors[i] > 1e-6) {
                EXPECT_GE(error, row.errors[i] / 3) << "the table would be wrong";
            }
        }
    }
}

TEST_F(FastTransform, CompensatesDispersion) {
    ReconstructionPlan plan = plan_for({GridKernel::kaiser_bessel, 2, 6});
    plan.recipe.dispersion = true;
    plan.recipe.a2_rad = 40;
    const auto expected = direct_sum(noise, 40);
    EXPECT_LE(relative_l2(reconstructed<std::complex<float>>(plan, noise), expected), 1e-5);
}

TEST_F(FastTransform, OfAUniformGridIsThePlainTransform) {
    ReconstructionPlan plan = plan_for({GridKernel::kaiser_bessel, 2, 8});
    plan.calibration.wavelengths_nm.clear();
    for (std::int64_t j = 0; j < n; ++j) plan.calibration.k_positions.push_back(static_cast<double>(j));
    const auto fast = reconstructed<std::complex<float>>(plan, noise);
    plan.recipe.resample = Resample::none;
    const auto plain = reconstructed<std::complex<float>>(plan, noise);
    EXPECT_LE(relative_l2(fast, {plain.begin(), plain.end()}), 5e-7);
}

TEST_F(FastTransform, ZoomsAndCropsAsTheOthersDo) {
    ReconstructionPlan plan = plan_for({GridKernel::kaiser_bessel, 2, 8});
    plan.recipe.zero_padding = 2;
    plan.recipe.depth_begin = 100;
    plan.recipe.depth_end = 300;
    const auto fast = reconstructed<std::complex<float>>(plan, noise);
    plan.recipe.resample = Resample::nudft;
    const auto exact = reconstructed<std::complex<float>>(plan, noise);
    ASSERT_EQ(fast.size(), exact.size());
    EXPECT_LE(relative_l2(fast, {exact.begin(), exact.end()}), 1e-6);
}

TEST(SpreadingKernels, HaveTheTransformThatTheyClaim) {
    for (const GridKernel which : {GridKernel::gaussian, GridKernel::kaiser_bessel, GridKernel::exponential}) {
        const NufftRecipe recipe{which, 2, 6};
        const SpreadingKernel kernel(recipe);
        for (const double cycles : {0.0, 0.1, 0.25}) {
            double sum = 0;
            constexpr int steps = 200'000;
            for (int i = 0; i < steps; ++i) {
                const double d = -3 + 6 * (i + 0.5) / steps;
                sum += kernel.at(d) * std::cos(2 * pi * d * cycles) * 6 / steps;
            }
            // The Gaussian's is that of one without ends.
            EXPECT_NEAR(kernel.transform(cycles) / sum, 1, which == GridKernel::gaussian ? 2e-3 : 1e-6);
        }
    }
}

TEST_F(FastTransform, RefusesKernelsThatDoNotExist) {
    try {
        planned_grid(plan_for({GridKernel::kaiser_bessel, 1.25, 1}));
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(error.line().find("nufft.width"), std::string::npos) << error.line();
    }
    EXPECT_FALSE(has_kernel({GridKernel::kaiser_bessel, 1.25, 1}));
    EXPECT_TRUE(has_kernel({GridKernel::gaussian, 1.25, 2}));
}

}  // namespace
}  // namespace echolux
