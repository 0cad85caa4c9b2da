// The fast transform of nonuniform samples (docs/transforms.md 7) compared with sums over their true wavenumbers in
// double, for each kernel, oversampling and width of the published error table.
#include "tests/oracle/nufft_truths.h"

#include <gtest/gtest.h>

#include "compute/error.h"
#include "compute/methods/nonuniform.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using std::numbers::pi;

class FastTransform : public testing::Test, protected SampledNoise {};

// Uses a real grid, and with dispersion a complex grid of one side of zero delay.
TEST_F(FastTransform, HasAccuracyOfKernel) {
    for (const double a2 : {0.0, 40.0}) {
        const auto expected = direct_sum(a2);
        for (const PublishedNufftError& row : published_nufft_errors()) {
            for (std::size_t i = 0; i < nufft_kernels.size(); ++i) {
                ReconstructionSpec spec = spec_for({nufft_kernels[i], row.oversampling, row.width});
                spec.recipe.dispersion = a2 != 0;
                spec.recipe.a2_rad = a2;
                const double error = relative_l2(reconstructed<std::complex<float>>(spec, noise), expected);
                EXPECT_LE(error, std::max(1.5 * row.errors[i], floor_of_float(row.oversampling)))
                    << "R " << row.oversampling << ", W " << row.width << ", kernel " << i << ", a2 " << a2;
                if (row.errors[i] > 1e-6) {
                    EXPECT_GE(error, row.errors[i] / 3) << "the table would be wrong";
                }
            }
        }
    }
}

// A kernel of width 12 wraps around a grid of ten points.
TEST_F(FastTransform, WrapsAroundGridNarrowerThanKernel) {
    constexpr std::int64_t samples = 16;
    ReconstructionSpec spec = plain_spec(samples, 1);
    set(spec, "dispersion=true a2_rad=3");
    spec.calibration.k_polynomial = {0, 14.5, 0.5};
    spec.nufft = {GridKernel::kaiser_bessel, 1.25, 12};
    const std::vector<float> line(noise.begin(), noise.begin() + samples);
    spec.recipe.resample = Resample::nudft;
    const auto exact = reconstructed<std::complex<float>>(spec, line);
    spec.recipe.resample = Resample::nufft;
    const auto fast = reconstructed<std::complex<float>>(spec, line);
    ASSERT_EQ(nufft_tables(spec).grid, 10);
    EXPECT_LE(relative_l2(fast, {exact.begin(), exact.end()}), floor_of_float(1.25));
}

// Largest difference from the matrix in any bin, for several depths with compensated dispersion.
TEST_F(FastTransform, SuppressesArtefactsOfMirrors) {
    struct Limit {
        std::int64_t width;
        double db;
    };
    const double k_min = instrument.uniform_k.front(), k_max = instrument.uniform_k.back();
    for (const auto& [width, db] : {Limit{3, -63}, {5, -99}}) {
        ReconstructionSpec spec = spec_for({GridKernel::kaiser_bessel, 2, width});
        set(spec, "dispersion=true a2_rad=40 window=hann");
        for (const double depth : {5.0, 50.0, 200.0, 500.0, 800.0, 1000.0}) {
            std::vector<float> line;
            for (const double k : instrument.pixel_k) {
                const double u = (k - k_min) / (k_max - k_min), kappa = 2 * u - 1;
                line.push_back(static_cast<float>(std::cos(2 * pi * depth * u * (n - 1) / n + 40 * kappa * kappa)));
            }
            spec.recipe.resample = Resample::nudft;
            const auto exact = reconstructed<std::complex<float>>(spec, line);
            spec.recipe.resample = Resample::nufft;
            const auto fast = reconstructed<std::complex<float>>(spec, line);
            double peak = 0, most = 0;
            for (std::size_t z = 0; z < exact.size(); ++z) {
                peak = std::max(peak, double{std::abs(exact[z])});
                most = std::max(most, double{std::abs(fast[z] - exact[z])});
            }
            EXPECT_LE(20 * std::log10(most / peak), db) << "W " << width << ", bin " << depth;
            EXPECT_GE(20 * std::log10(most / peak), db - 12) << "the kernel cannot be that good";
        }
    }
}

TEST_F(FastTransform, EqualsPlainTransformForUniformGrid) {
    ReconstructionSpec spec = spec_for({GridKernel::kaiser_bessel, 2, 8});
    spec.calibration.wavelengths_nm.clear();
    for (std::int64_t j = 0; j < n; ++j) spec.calibration.k_positions.push_back(static_cast<double>(j));
    const auto fast = reconstructed<std::complex<float>>(spec, noise);
    spec.recipe.resample = Resample::none;
    const auto plain = reconstructed<std::complex<float>>(spec, noise);
    EXPECT_LE(relative_l2(fast, {plain.begin(), plain.end()}), 5e-7);
}

TEST_F(FastTransform, ZoomsAndCropsLikeOthers) {
    for (const double a2 : {0.0, 40.0}) {
        ReconstructionSpec spec = spec_for({GridKernel::kaiser_bessel, 2, 8});
        set(spec, "zero_padding=2 depth_begin=100 depth_end=900");
        spec.recipe.dispersion = a2 != 0;
        spec.recipe.a2_rad = a2;
        const auto fast = reconstructed<std::complex<float>>(spec, noise);
        spec.recipe.resample = Resample::nudft;
        const auto exact = reconstructed<std::complex<float>>(spec, noise);
        ASSERT_EQ(fast.size(), exact.size());
        EXPECT_LE(relative_l2(fast, {exact.begin(), exact.end()}), 1e-6) << a2;
    }
}

TEST(SpreadingKernels, MatchTheirTransforms) {
    for (const GridKernel which : nufft_kernels) {
        const NufftRecipe recipe{which, 2, 6};
        const SpreadingKernel kernel(recipe);
        for (const double cycles : {0.0, 0.1, 0.25}) {
            double sum = 0;
            constexpr int steps = 200'000;
            for (int i = 0; i < steps; ++i) {
                const double d = -3 + 6 * (i + 0.5) / steps;
                sum += kernel.at(d) * std::cos(2 * pi * d * cycles) * 6 / steps;
            }
            // The Gaussian's formula assumes infinite support.
            EXPECT_NEAR(kernel.transform(cycles) / sum, 1, which == GridKernel::gaussian ? 2e-3 : 1e-6);
        }
    }
}

// beta of Kaiser-Bessel exists, and the transform can be divided by at every depth.
TEST(SpreadingKernels, ExistForAllAllowedSettings) {
    for (const GridKernel which : {GridKernel::gaussian, GridKernel::kaiser_bessel, GridKernel::exponential}) {
        for (const double oversampling : {1.25, 1.3, 1.5, 2.0, 3.1, 4.0}) {
            for (std::int64_t width = 2; width <= 12; ++width) {
                const SpreadingKernel kernel({which, oversampling, width});
                EXPECT_TRUE(std::isfinite(kernel.at(0)) && kernel.at(0) > 0) << oversampling << " " << width;
                const double correction = kernel.transform(0) / kernel.transform(0.5 / oversampling);
                EXPECT_GT(correction, 1) << oversampling << " " << width;
                EXPECT_LT(correction, 300) << oversampling << " " << width;
            }
        }
    }
}

TEST_F(FastTransform, RejectsInvalidKernels) {
    for (const auto& [kernel, key] : {std::pair{NufftRecipe{GridKernel::kaiser_bessel, 1.25, 1}, "nufft.width"},
                                      {{GridKernel::kaiser_bessel, 2, 13}, "nufft.width"},
                                      {{GridKernel::kaiser_bessel, 1.2, 3}, "nufft.oversampling"}}) {
        EXPECT_NE(error_of([&, recipe = kernel] { planned_grid(spec_for(recipe)); }).line.find(key), std::string::npos);
    }
}

}  // namespace
}  // namespace echolux
