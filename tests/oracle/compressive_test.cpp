// Compressive sensing (docs/transforms.md 9): scenes of reflectors in closed form, reconstructed from part of the
// samples, compared with the least squares profile of all samples, which is found by conjugate gradients over explicit
// sums in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "compute/calibrate/calibrate.h"
#include "compute/cpu/sparse.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/steps/sparse.h"
#include "tests/oracle/sensed_scene.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

class Compressive : public testing::Test, protected SensedScene {};

TEST_F(Compressive, SlowThirtyPercentOfSamplesShowAllReflectors) {
    constexpr int lines = 24;
    const ExplicitSums sums(points());
    const std::vector<float> spectra = scenes(lines);
    ReconstructionSpec spec = spec_for(lines);
    const Field clamped = reconstructed<std::complex<float>>(spec, spectra);
    spec.compressive.continuation = true;
    const Field continued = reconstructed<std::complex<float>>(spec, spectra);
    set(spec, "compressive.iterations=1 tau_relative=0 continuation=false");
    const Field first_guess = reconstructed<std::complex<float>>(spec, spectra);
    double clamped_db = 0, continued_db = 0, guess_db = 0;
    for (int l = 0; l < lines; ++l) {
        const Profile truth = sums.solved({spectra.begin() + l * n, spectra.begin() + (l + 1) * n});
        clamped_db += psnr_db(clamped.data() + l * n / 2, truth) / lines;
        continued_db += psnr_db(continued.data() + l * n / 2, truth) / lines;
        guess_db += psnr_db(first_guess.data() + l * n / 2, truth) / lines;
    }
    EXPECT_GE(clamped_db, 38);
    EXPECT_GE(continued_db, 45);
    EXPECT_LE(guess_db, 30) << "the scene would be too easy";
}

// The published differences are for mirrors. For many reflectors, and mirrors blurred by dispersion, the difference is
// the kernel's effect on their spectrum.
TEST_F(Compressive, FastTransformMatchesExactOne) {
    const std::vector<double> depths{43.0, 162.2, 300.5, 458.3, 593.1, 727.6};
    const std::vector<float> lines = mirrors(depths);
    ReconstructionSpec spec = spec_for(std::ssize(depths));
    struct Case {
        NufftRecipe nufft;
        double published, of_kernel;
    };
    constexpr auto beatty = GridKernel::kaiser_bessel, gauss = GridKernel::gaussian;
    for (const double a2 : {0.0, 30.0}) {  // a real grid, a complex one
        spec.recipe.dispersion = a2 != 0;
        spec.recipe.a2_rad = a2;
        spec.compressive.transform = SensingTransform::exact;
        const Field exact = reconstructed<std::complex<float>>(spec, lines);
        spec.compressive.transform = SensingTransform::nufft;
        for (const Case& c : {Case{{beatty, 2, 5}, 3.9e-6, 4.5e-5}, Case{{beatty, 2, 3}, 5.3e-4, 4.2e-3},
                              Case{{beatty, 1.5, 5}, 1.3e-5, 2.2e-4}, Case{{beatty, 1.5, 3}, 8.6e-4, 9.8e-3},
                              Case{{gauss, 2, 5}, 5.8e-4, 1.7e-3}, Case{{gauss, 2, 3}, 5.7e-3, 2.2e-2},
                              Case{{gauss, 1.5, 5}, 1.2e-3, 4.9e-3}, Case{{gauss, 1.5, 3}, 1.2e-2, 3.3e-2}}) {
            spec.nufft = c.nufft;
            const double limit = 2 * (a2 == 0 ? c.published : c.of_kernel);
            EXPECT_LE(relative_l2(reconstructed<std::complex<float>>(spec, lines), exact), limit)
                << "R " << c.nufft.oversampling << ", W " << c.nufft.width << ", a2 " << a2;
        }
    }
}

TEST_F(Compressive, TransformsAreAdjoint) {
    std::mt19937 random(9);
    std::normal_distribution<float> value;
    for (const double a2 : {0.0, 30.0}) {
        for (const SensingTransform transform :
             {SensingTransform::nufft, SensingTransform::exact, SensingTransform::fft}) {
            ReconstructionSpec spec = spec_for(1);
            spec.recipe.dispersion = a2 != 0;
            spec.recipe.a2_rad = a2;
            spec.compressive.transform = transform;
            const cpu::CompressiveTables tables(spec);
            const auto sensing = tables.sensing();
            const std::size_t sensed = tables.sensing_tables.samples.size();
            Field profile(n / 2), back(n / 2);
            std::vector<float> samples(sensed), shown(sensed);
            for (auto& bin : profile) bin = {value(random), value(random)};
            if (a2 == 0) profile[0] = profile[0].real();
            for (float& sample : samples) sample = value(random);
            sensing->to_samples(profile.data(), shown.data());
            sensing->to_depth(samples.data(), back.data());
            double left = 0, right = 0;
            for (std::size_t p = 0; p < sensed; ++p) left += double{shown[p]} * double{samples[p]};
            for (std::size_t m = 0; m < profile.size(); ++m) {
                const auto product = std::conj(std::complex<double>(profile[m])) * std::complex<double>(back[m]);
                right += (m == 0 ? 1 : 2) * product.real();
            }
            EXPECT_NEAR(left, right, 2e-5 * std::sqrt(static_cast<double>(sensed * n))) << a2;
        }
    }
}

TEST_F(Compressive, MonotoneSearchNeverGetsWorse) {
    ReconstructionSpec spec = spec_for(1);
    set(spec, "step=monotone compressive.iterations=40");
    const cpu::CompressiveTables tables(spec);
    cpu::SparseSearch search(tables.sensing(), spec.compressive, std::ssize(tables.sensing_tables.samples), n / 2);
    for (unsigned seed = 0; seed < 8; ++seed) {
        const std::vector<float> line = scene(seed);
        std::vector<float> sensed;
        for (const std::int32_t p : tables.sensing_tables.samples) sensed.push_back(line[index(p)]);
        search.run(sensed.data());
        ASSERT_EQ(search.objectives().size(), 40u);
        for (std::size_t i = 1; i < 40; ++i)
            EXPECT_LE(search.objectives()[i], search.objectives()[i - 1] * (1 + 2e-6)) << i;
        EXPECT_LT(search.objectives().back(), 0.5 * search.objectives().front());
    }
}

// Largest eigenvalue of A A^T from explicit sums. Its element (p, q) is the sum over m of w[m] cos(theta_p - theta_q +
// 2 pi m (x_p - x_q) / N) / N. Power iteration converges from below.
double curvature_of(const SensingTables& tables) {
    const auto sensed = static_cast<std::size_t>(tables.points.size());
    const auto length = static_cast<double>(tables.length);
    std::vector<double> gram(sensed * sensed), vector(sensed), next(sensed);
    for (std::size_t p = 0; p < sensed; ++p) {
        for (std::size_t q = 0; q < sensed; ++q) {
            const double apart = 2 * std::numbers::pi * (tables.points[p] - tables.points[q]) / length;
            const double turned = std::arg(tables.turns[p] * std::conj(tables.turns[q]));
            double sum = std::cos(turned);
            for (std::int64_t m = 1; m < tables.modes; ++m) sum += 2 * std::cos(turned + apart * double(m));
            gram[p * sensed + q] = sum / length;
        }
        vector[p] = 1 + 0.1 * static_cast<double>(p % 7);
    }
    double norm = 0;
    for (int i = 0; i < 100; ++i) {
        norm = 0;
        for (std::size_t p = 0; p < sensed; ++p) {
            next[p] = std::inner_product(vector.begin(), vector.end(), gram.begin() + std::ptrdiff_t(p * sensed), 0.0);
            norm += next[p] * next[p];
        }
        norm = std::sqrt(norm);
        for (std::size_t p = 0; p < sensed; ++p) vector[p] = next[p] / norm;
    }
    return norm;
}

TEST_F(Compressive, CurvatureIsBelowItsBound) {
    constexpr std::int64_t samples = 128;
    for (const double a2 : {0.0, 30.0}) {
        for (const bool chirped : {false, true}) {
            ReconstructionSpec spec = plain_spec(samples, 1);
            spec.recipe.method = Method::compressive;
            spec.recipe.dispersion = a2 != 0;
            spec.recipe.a2_rad = a2;
            if (chirped) spec.calibration.wavelengths_nm = chirped_wavelengths_nm(samples);
            const SensingTables tables = sensing_tables(spec);
            const double found = curvature_of(tables), bound = tables.max_curvature();
            EXPECT_GT(found, chirped ? 5 : 0.9) << a2;
            EXPECT_LE(found, bound) << a2;
            EXPECT_LE(bound, 4 * found) << a2;
            set(spec, "step=monotone min_step=0.1");
            const int tries = enough_tries(tables, spec.compressive);
            EXPECT_GE(0.1 * std::pow(2, tries - 1), found) << a2;
            spec.compressive.min_step = 1000;  // searches still begin with 1
            EXPECT_GE(std::pow(2, enough_tries(tables, spec.compressive) - 1), found) << a2;
            spec.compressive.step = StepRule::clamped;
            EXPECT_EQ(enough_tries(tables, spec.compressive), 1);
        }
    }
}

TEST_F(Compressive, SharedPointsNeedMaximalTries) {
    SensingTables tables{.points = {3, 5, 5}, .length = 16};
    CompressiveRecipe recipe;
    recipe.step = StepRule::monotone;
    EXPECT_EQ(enough_tries(tables, recipe), SearchRules<double>::max_tries);
}

// Within the bound on tries, a search never gets worse, even if samples are nineteen times denser at one end than at
// the other.
TEST_F(Compressive, BoundSufficesForStrongChirp) {
    ReconstructionSpec spec = spec_for(1);
    spec.calibration.wavelengths_nm = chirped_wavelengths_nm(n);
    set(spec, "mask=all compressive.iterations=30");
    for (const StepRule step : {StepRule::monotone, StepRule::safeguarded}) {
        spec.compressive.step = step;
        const cpu::CompressiveTables tables(spec);
        cpu::SparseSearch search(tables.sensing(), spec.compressive, std::ssize(tables.sensing_tables.samples), n / 2);
        for (unsigned seed = 0; seed < 4; ++seed) {
            search.run(scene(seed).data());
            EXPECT_LE(search.max_tries(), enough_tries(tables.sensing_tables, spec.compressive)) << seed;
            EXPECT_GE(search.max_tries(), 2) << "the scene is too easy";
        }
    }
}

TEST_F(Compressive, LargeTauGivesZero) {
    ReconstructionSpec spec = spec_for(1);
    spec.compressive.tau_relative = 1;
    for (const auto& bin : reconstructed<std::complex<float>>(spec, scene(1))) EXPECT_EQ(bin, std::complex<float>());
    for (const auto& bin : reconstructed<std::complex<float>>(spec_for(1), std::vector<float>(n))) {
        EXPECT_EQ(bin, std::complex<float>());
    }
}

TEST_F(Compressive, AllSamplesOfUniformGridGivePlainTransform) {
    ReconstructionSpec spec = plain_spec(n, 1);
    const std::vector<float> spectrum = scene(2);
    const Field plain = reconstructed<std::complex<float>>(spec, spectrum);
    set(spec, "recipe.method=compressive transform=fft");
    set(spec, "tau_relative=0 compressive.iterations=1");
    EXPECT_LE(relative_l2(reconstructed<std::complex<float>>(spec, spectrum), plain), 1e-6);
}

TEST_F(Compressive, LinesAreIndependent) {
    const Field together = reconstructed<std::complex<float>>(spec_for(3), scenes(3));
    const Field alone = reconstructed<std::complex<float>>(spec_for(1), scene(2));
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + n));
}

TEST_F(Compressive, DispersionIsPartOfModel) {
    const double a2 = 40;
    std::vector<float> line(n);
    const std::vector<double> x = points();
    for (std::size_t p = 0; p < line.size(); ++p) {
        const double kappa = 2 * x[p] / static_cast<double>(n - 1) - 1;
        line[p] = static_cast<float>(800 * std::cos(2 * pi * 300 * x[p] / n + a2 * kappa * kappa + 0.4));
    }
    ReconstructionSpec spec = spec_for(1);
    spec.recipe.dispersion = true;
    spec.recipe.a2_rad = a2;
    const Field bins = reconstructed<std::complex<float>>(spec, line);
    const auto peak = std::ranges::max_element(bins, {}, [](const auto& bin) { return std::norm(bin); });
    EXPECT_EQ(peak - bins.begin(), 300);
    EXPECT_NEAR(std::abs(*peak), 400, 20);  // half of its amplitude, slightly less because of tau
    EXPECT_NEAR(std::arg(*peak), 0.4, 0.02);
    double rest = 0;
    for (std::size_t m = 0; m < bins.size(); ++m) rest += m == 300 ? 0 : double{std::norm(bins[m])};
    EXPECT_LE(rest, 1e-3 * std::norm(*peak));
}

// The search itself leaves no noise, which would make levels incomparable, so the floor is that of one transform.
TEST_F(Compressive, UsesNoiseFloorOfSingleTransform) {
    ReconstructionSpec spec = spec_for(2);
    set(spec, "quantity=db voxel=f32");
    spec.recipe.resample = Resample::nudft;
    std::mt19937 random(4);
    std::normal_distribution<float> noise(0, 2);
    std::vector<float> spectra(2 * n);
    for (float& sample : spectra) sample = noise(random);
    const Block block = block_of(bytes_of_lines(spectra), 0, 1);
    const double floor_db = measured_noise_floor_db(spec, block);
    spec.recipe.method = Method::plain;
    EXPECT_EQ(floor_db, measured_noise_floor_db(spec, block));
    EXPECT_NEAR(floor_db, 20 * std::log10(2 / std::sqrt(double{n})) - 1.6, 2);  // the median
}

TEST_F(Compressive, MasksTakeRequestedShare) {
    ReconstructionSpec spec = spec_for(1);
    for (const SensingMask mask : {SensingMask::uniform, SensingMask::variable}) {
        spec.compressive.mask = mask;
        const auto samples = sensed_samples(spec);
        EXPECT_EQ(std::ssize(samples), std::lround(0.3 * n));
        EXPECT_TRUE(std::ranges::is_sorted(samples));
        EXPECT_EQ(std::ranges::adjacent_find(samples), samples.end());
        EXPECT_EQ(samples, sensed_samples(spec));
        const auto middle = std::ranges::count_if(samples, [](std::int32_t p) { return p >= n / 4 && p < 3 * n / 4; });
        const double share = static_cast<double>(middle) / static_cast<double>(samples.size());
        const bool is_uniform = mask == SensingMask::uniform;
        EXPECT_GE(share, is_uniform ? 0.44 : 0.57);
        EXPECT_LE(share, is_uniform ? 0.56 : 1);
        ++spec.compressive.seed;
        EXPECT_NE(samples, sensed_samples(spec));
        --spec.compressive.seed;
    }
    spec.compressive.mask = SensingMask::file;
    spec.calibration.mask.assign(n, 0.0);
    spec.calibration.mask[5] = spec.calibration.mask[77] = 1;
    EXPECT_EQ(sensed_samples(spec), (std::vector<std::int32_t>{5, 77}));
}

TEST_F(Compressive, ImpossibleSettingsAreRefusedWithReason) {
    const auto refused = [&](const char* where, auto change) {
        ReconstructionSpec spec = spec_for(1);
        change(spec);
        EXPECT_NE(error_of([&] { planned_grid(spec); }).line.find(where), std::string::npos) << where;
    };
    refused("selects no sample", [](auto& spec) { spec.calibration.mask.assign(n, 0.0); });
    refused("calibration.mask", [](auto& spec) { spec.calibration.mask.assign(n, 0.5); });
    refused("compressive.mask", [](auto& spec) { spec.compressive.mask = SensingMask::file; });
    refused("calibration.background", [](auto& spec) { spec.calibration.background.clear(); });
    refused("no light", [](auto& spec) { spec.calibration.background.assign(n, 0.0); });
    refused("nufft.width", [](auto& spec) { spec.nufft = {GridKernel::kaiser_bessel, 1.25, 1}; });
    refused("recipe.zero_padding", [](auto& spec) { spec.recipe.zero_padding = 2; });
    refused("compressive.share", [](auto& spec) { spec.compressive.share = 0; });
}

}  // namespace
}  // namespace echolux
