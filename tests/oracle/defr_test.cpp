// Dispersion-encoded full range (docs/transforms.md 8) on the CPU, on scenes of known profile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compute/cpu/sparse.h"
#include "compute/error.h"
#include "tests/oracle/full_range_truths.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using namespace full_range;

INSTANTIATE_TEST_SUITE_P(Cpu, FullRange, testing::Values(FullRangeMachine{"cpu", &plan_on_cpu}),
                         [](const auto& test) { return test.param.name; });

TEST(SearchForFullRange, ResidualNeverGrows) {
    std::mt19937 random(3);
    std::normal_distribution<double> noise;
    for (const double delta : {0.0, 0.3, 1.0}) {
        ReconstructionSpec spec = spec_of(60, 10, 0);
        spec.defr.delta = delta;
        const DefrTables tables = defr_tables(spec);
        std::vector<double> spectrum(n);
        for (double& value : spectrum) value = noise(random);
        double before = INFINITY;
        for (spec.defr.iterations = 0; spec.defr.iterations < 30; ++spec.defr.iterations) {
            cpu::FullRangeSearch<double> search(tables, spec.defr);
            std::ranges::copy(spectrum, search.spectrum());
            search.run();
            double left = 0;
            for (std::int64_t j = 0; j < n; ++j) left += search.spectrum()[j] * search.spectrum()[j];
            EXPECT_LE(left, before * (1 + 1e-12)) << "delta " << delta << ", " << spec.defr.iterations;
            before = left;
        }
    }
}

TEST(SearchForFullRange, GammaFollowsSourceAndDispersion) {
    for (const auto& [a2, gamma] : {std::pair{5.0, 0.556}, {20.0, 0.280}, {80.0, 0.140}, {320.0, 0.070}}) {
        EXPECT_NEAR(defr_tables(spec_of(a2, 0, 10)).gamma, gamma, 0.001) << a2;
    }
    // Closed form for a Gaussian source of FWHM w in kappa.
    const double w = 0.3, a2 = 100;
    ReconstructionSpec spec = spec_of(a2, 0, 10);
    set(spec, "window=rect shaping_smooth=1");
    for (std::int64_t j = 0; j < n; ++j) {
        spec.calibration.background.push_back(1000 * std::exp(-4 * std::numbers::ln2 * std::pow(kappa(j) / w, 2)));
    }
    EXPECT_NEAR(defr_tables(spec).gamma, std::pow(1 + std::pow(2 * a2 * w * w / (4 * std::numbers::ln2), 2), -0.25),
                1e-3);
    spec.defr.delta = 0.25;
    EXPECT_NEAR(defr_tables(spec).threshold, 0.25 + 0.75 * defr_tables(spec).gamma, 1e-12);
    spec.defr.threshold = 0.4;
    EXPECT_EQ(defr_tables(spec).threshold, 0.4);
}

TEST(SearchForFullRange, ImpossibleSettingsAreRefused) {
    for (const auto& [settings, key] : {std::pair{"a2_rad=0", "full range needs dispersion"},
                                        {"dispersion=false", "recipe.dispersion"},
                                        {"zero_padding=2", "recipe.zero_padding"},
                                        {"defr.delta=1.5", "defr.delta"},
                                        {"defr.iterations=-1", "defr.iterations"}}) {
        const ReconstructionSpec spec = with(spec_of(160, 0, 10), settings);
        EXPECT_NE(error_of([&] { planned_grid(spec); }).line.find(key), std::string::npos) << settings;
    }
    ReconstructionSpec dark = with(spec_of(160, 0, 10), "background=stored");
    dark.calibration.background.assign(n, 0.0);
    EXPECT_NE(error_of([&] { planned_grid(dark); }).line.find("calibration.background"), std::string::npos);
}

}  // namespace
}  // namespace echolux
