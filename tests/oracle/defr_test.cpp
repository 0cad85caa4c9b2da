// Dispersion-encoded full range (docs/algorithms.md 8) on scenes whose true profile is known in closed form: sums of
// cosines with a dispersion, and the single-sided sums of exponentials that a search should find in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "compute/cpu/defr.h"
#include "compute/error.h"
#include "tests/oracle/chain.h"

namespace echolux {
namespace {

using std::numbers::pi;
using Profile = std::vector<std::complex<double>>;

constexpr std::int64_t n = 2048;

struct Reflector {
    double bin;
    double amplitude;
    double phase;
};

double kappa(std::int64_t j) {
    return 2 * static_cast<double>(j) / static_cast<double>(n - 1) - 1;
}

double theta(std::int64_t j, double a2, double a3) {
    return (a2 + a3 * kappa(j)) * kappa(j) * kappa(j);
}

double carrier(const Reflector& reflector, std::int64_t j) {
    return 2 * pi * reflector.bin * static_cast<double>(j) / static_cast<double>(n) + reflector.phase;
}

std::vector<float> spectrum_of(const std::vector<Reflector>& scene, double a2, double a3) {
    std::vector<float> spectrum(n);
    for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (const Reflector& r : scene) sum += r.amplitude * std::cos(carrier(r, j) + theta(j, a2, a3));
        spectrum[static_cast<std::size_t>(j)] = static_cast<float>(sum);
    }
    return spectrum;
}

// Zero delay in the middle, divided by the sum of the window. A transform of windowed exponentials in closed form: the
// Hann window is three of them.
Profile truth_of(const std::vector<Reflector>& scene) {
    const auto dirichlet = [](double cycles) {  // sum over j of exp(2 pi i cycles j)
        if (std::abs(cycles - std::nearbyint(cycles)) < 1e-12) return std::complex<double>(n);
        const std::complex<double> turn = std::polar(1.0, 2 * pi * cycles), all = std::polar(1.0, 2 * pi * cycles * n);
        return (1.0 - all) / (1.0 - turn);
    };
    Profile profile(n);
    const double side = 1.0 / static_cast<double>(n - 1), sum = 0.5 * static_cast<double>(n - 1);
    for (std::int64_t row = 0; row < n; ++row) {
        for (const Reflector& r : scene) {
            const double cycles = (r.bin - static_cast<double>(row - n / 2)) / static_cast<double>(n);
            const auto windowed =
                0.5 * dirichlet(cycles) - 0.25 * dirichlet(cycles + side) - 0.25 * dirichlet(cycles - side);
            profile[static_cast<std::size_t>(row)] += 0.5 * r.amplitude * std::polar(1.0, r.phase) * windowed / sum;
        }
    }
    return profile;
}

ReconstructionPlan plan_of(double a2, double a3, std::int64_t iterations) {
    ReconstructionPlan plan = plain_plan(n, 1);
    plan.recipe.method = Method::defr;
    plan.recipe.window = Window::hann;
    plan.recipe.dispersion = true;
    plan.recipe.a2_rad = a2;
    plan.recipe.a3_rad = a3;
    plan.defr.iterations = iterations;
    return plan;
}

Profile found(const ReconstructionPlan& plan, const std::vector<float>& spectrum) {
    const auto bins = reconstructed<std::complex<float>>(plan, spectrum);
    return {bins.begin(), bins.end()};
}

double energy(const Profile& profile) {
    double sum = 0;
    for (const auto& value : profile) sum += std::norm(value);
    return sum;
}

// Energy of the truth over that of the error.
double suppression_db(const Profile& measured, const Profile& truth) {
    Profile error = measured;
    for (std::size_t i = 0; i < error.size(); ++i) error[i] -= truth[i];
    return 10 * std::log10(energy(truth) / energy(error));
}

std::vector<Reflector> layers(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> bin(-800, 800), level_db(-35, 0), phase(0, 2 * pi);
    std::vector<Reflector> scene;
    for (int i = 0; i < 12; ++i) scene.push_back({bin(random), std::pow(10, level_db(random) / 20), phase(random)});
    return scene;
}

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
    return values[values.size() / 2];
}

// ---- what it finds --------------------------------------------------------------------------------------------------

TEST(FullRange, SuppressesTheFalseImageOfAMirror) {
    const std::vector<Reflector> mirror{{-300.3, 1, 0.7}};
    const Profile truth = truth_of(mirror);
    const std::vector<float> spectrum = spectrum_of(mirror, 160, 30);
    double before = suppression_db(found(plan_of(160, 30, 0), spectrum), truth);
    EXPECT_NEAR(before, 0, 0.1);  // the false image has the energy of the true one
    for (const auto& [iterations, least] : {std::pair{1, 12.0}, {2, 18.0}, {3, 28.0}, {5, 45.0}, {10, 65.0}}) {
        const double after = suppression_db(found(plan_of(160, 30, iterations), spectrum), truth);
        EXPECT_GE(after, least) << iterations << " iterations";
        EXPECT_GT(after, before);
        before = after;
    }
}

TEST(FullRange, SuppressesThoseOfTwelveLayers) {
    std::vector<double> after_ten, after_fifteen;
    for (unsigned seed = 0; seed < 40; ++seed) {
        const std::vector<Reflector> scene = layers(seed);
        const Profile truth = truth_of(scene);
        const std::vector<float> spectrum = spectrum_of(scene, 160, 30);
        after_ten.push_back(suppression_db(found(plan_of(160, 30, 10), spectrum), truth));
        after_fifteen.push_back(suppression_db(found(plan_of(160, 30, 15), spectrum), truth));
    }
    EXPECT_GE(median(after_ten), 42);
    EXPECT_GE(median(after_fifteen), 50);
}

TEST(FullRange, WithoutIterationsIsTheCompensatedTransform) {
    const std::vector<float> spectrum = spectrum_of(layers(7), 80, -20);
    const Profile full = found(plan_of(80, -20, 0), spectrum);
    ReconstructionPlan plan = plan_of(80, -20, 0);
    plan.recipe.method = Method::plain;
    const Profile half = found(plan, spectrum);
    ASSERT_EQ(full.size(), 2 * half.size());
    double off = 0;
    for (std::size_t z = 0; z < half.size(); ++z) off = std::max(off, std::abs(full[half.size() + z] - half[z]));
    EXPECT_LE(off, 1e-6 * std::sqrt(energy(half)));
}

TEST(FullRange, TheOtherSignOfDispersionMirrorsTheDepth) {
    const std::vector<float> spectrum = spectrum_of({{300, 1, 0.2}}, 160, 0);
    const auto strongest = [](const Profile& profile) {
        const auto place = std::ranges::max_element(profile, {}, [](const auto& value) { return std::norm(value); });
        return place - profile.begin() - n / 2;
    };
    EXPECT_EQ(strongest(found(plan_of(160, 0, 10), spectrum)), 300);
    EXPECT_EQ(strongest(found(plan_of(-160, 0, 10), spectrum)), -300);
}

TEST(FullRange, ZeroDelayIsInTheMiddle) {
    ReconstructionPlan plan = plan_of(160, 0, 5);
    plan.calibration.depth_pitch_um = 2;
    EXPECT_EQ(planned_grid(plan).depth, n);
    EXPECT_DOUBLE_EQ(planned_grid(plan).first_depth_um, -n);  // n / 2 bins of 2 um
    plan.recipe.depth_begin = n / 2 - 10;
    plan.recipe.depth_end = n / 2 + 30;
    EXPECT_EQ(planned_grid(plan).depth, 40);
    EXPECT_DOUBLE_EQ(planned_grid(plan).first_depth_um, -20);
    const std::vector<float> spectrum = spectrum_of({{25, 1, 0}}, 160, 0);
    EXPECT_GT(std::abs(found(plan, spectrum)[35]), 0.45);
    plan.geometry.depth_flip = true;
    EXPECT_DOUBLE_EQ(planned_grid(plan).first_depth_um, -58);
    EXPECT_GT(std::abs(found(plan, spectrum)[4]), 0.45);
}

// ---- the search itself ----------------------------------------------------------------------------------------------

TEST(FullRange, WhatIsLeftOfASpectrumNeverGrows) {
    std::mt19937 random(3);
    std::normal_distribution<double> noise;
    for (const double delta : {0.0, 0.3, 1.0}) {
        ReconstructionPlan plan = plan_of(60, 10, 0);
        plan.defr.delta = delta;
        const DefrTables tables = defr_tables(plan);
        std::vector<double> spectrum(n);
        for (double& value : spectrum) value = noise(random);
        double before = INFINITY;
        for (plan.defr.iterations = 0; plan.defr.iterations < 30; ++plan.defr.iterations) {
            FullRangeSearch<double> search(tables, plan.defr);
            std::ranges::copy(spectrum, search.spectrum());
            search.run();
            double left = 0;
            for (std::int64_t j = 0; j < n; ++j) left += search.spectrum()[j] * search.spectrum()[j];
            EXPECT_LE(left, before * (1 + 1e-12)) << "delta " << delta << ", " << plan.defr.iterations;
            before = left;
        }
    }
}

TEST(FullRange, GammaIsWhatTheSourceAndTheDispersionMakeIt) {
    for (const auto& [a2, gamma] : {std::pair{5.0, 0.556}, {20.0, 0.280}, {80.0, 0.140}, {320.0, 0.070}}) {
        EXPECT_NEAR(defr_tables(plan_of(a2, 0, 10)).gamma, gamma, 0.001) << a2;
    }
    // A Gaussian source of FWHM w in kappa, in closed form.
    const double w = 0.3, a2 = 100;
    ReconstructionPlan plan = plan_of(a2, 0, 10);
    plan.recipe.window = Window::rect;
    plan.recipe.shaping_smooth = 1;
    for (std::int64_t j = 0; j < n; ++j) {
        plan.calibration.background.push_back(1000 * std::exp(-4 * std::numbers::ln2 * std::pow(kappa(j) / w, 2)));
    }
    EXPECT_NEAR(defr_tables(plan).gamma, std::pow(1 + std::pow(2 * a2 * w * w / (4 * std::numbers::ln2), 2), -0.25),
                1e-3);
    plan.defr.delta = 0.25;
    EXPECT_NEAR(defr_tables(plan).threshold, 0.25 + 0.75 * defr_tables(plan).gamma, 1e-12);
    plan.defr.threshold = 0.4;
    EXPECT_EQ(defr_tables(plan).threshold, 0.4);
}

TEST(FullRange, SingleAndDoublePrecisionAgree) {
    const std::vector<float> spectrum = spectrum_of(layers(11), 160, 30);
    for (const auto& [iterations, limit_db] : {std::pair{10, -40.0}, {20, -8.2}}) {
        ReconstructionPlan plan = plan_of(160, 30, iterations);
        const Profile single = found(plan, spectrum);
        plan.defr.double_precision = true;
        const Profile precise = found(plan, spectrum);
        double difference = 0;
        std::vector<double> levels;
        for (std::size_t z = 0; z < single.size(); ++z) {
            difference += std::abs(std::abs(single[z]) - std::abs(precise[z])) / n;
            levels.push_back(std::abs(precise[z]));
        }
        EXPECT_LE(20 * std::log10(difference / median(levels)), limit_db) << iterations;
    }
}

TEST(FullRange, NothingStaysNothing) {
    for (const bool residual : {false, true}) {
        ReconstructionPlan plan = plan_of(160, 30, 10);
        plan.defr.residual = residual;
        for (const auto& value : found(plan, std::vector<float>(n))) EXPECT_EQ(value, 0.0);
    }
}

TEST(FullRange, ImpossibleSettingsAreRefusedWithTheReason) {
    const auto refusal = [](auto change) {
        ReconstructionPlan plan = plan_of(160, 0, 10);
        change(plan);
        try {
            planned_grid(plan);
        } catch (const Error& error) {
            return error.line();
        }
        return std::string("accepted");
    };
    const auto has = [](const std::string& line, const char* text) {
        EXPECT_NE(line.find(text), std::string::npos) << line;
    };
    has(refusal([](auto& plan) { plan.recipe.a2_rad = 0; }), "full range needs dispersion");
    has(refusal([](auto& plan) { plan.recipe.dispersion = false; }), "recipe.dispersion");
    has(refusal([](auto& plan) { plan.recipe.zero_padding = 2; }), "recipe.zero_padding");
    has(refusal([](auto& plan) { plan.defr.delta = 1.5; }), "defr.delta");
    has(refusal([](auto& plan) { plan.defr.iterations = -1; }), "defr.iterations");
    has(refusal([](auto& plan) {
            plan.calibration.background.assign(n, 0.0);
            plan.recipe.background = Background::stored;
        }),
        "calibration.background");
}

}  // namespace
}  // namespace echolux
