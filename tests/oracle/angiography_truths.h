// Requirements for angiography on scenes of known statistics (docs/algorithms.md 5.2), for either backend. Includers
// instantiate Angiography.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "tests/oracle/flow_run.h"

namespace echolux {

inline const std::vector<FlowMethod>& angiography_methods() {
    static const std::vector<FlowMethod> methods{
        FlowMethod::speckle_variance, FlowMethod::decorrelation, FlowMethod::omag, FlowMethod::cdv,
        FlowMethod::correlation,      FlowMethod::phase_variance};
    return methods;
}

inline std::string name_of(FlowMethod method) {
    FlowRecipe recipe;
    recipe.method = method;
    return std::get<std::string>(value_of(recipe, "method"));
}

class Angiography : public testing::TestWithParam<FlowMachine> {
  protected:
    static constexpr std::int64_t bins = 64, a_scans = 150;

    // Reconstructs the flow of repeats of one B-scan, field(repeat, a, z). `noise_db` is the mean power of the noise.
    FlowVolumes run(FlowMethod method, std::int64_t repeats, double noise_db,
                    const std::function<std::complex<double>(std::int64_t, std::int64_t, std::int64_t)>& field,
                    const std::function<void(ReconstructionSpec&)>& choose = {}) const {
        LineBins fields(a_scans * repeats, bins);
        for (std::int64_t r = 0; r < repeats; ++r) {
            for (std::int64_t a = 0; a < a_scans; ++a) {
                for (std::int64_t z = 1; z < bins; ++z) fields.at(r * a_scans + a, z) = field(r, a, z);
            }
        }
        ReconstructionSpec spec = repeats_spec(fields, method, repeats);
        spec.recipe.noise_floor_db = noise_db + 10 * std::log10(std::log(2.0));  // the noise floor is a median
        spec.flow.window_depth = 5;
        if (choose) choose(spec);
        return flow_of(GetParam(), spec, bytes_of_lines(spectra_of(fields)));
    }

    static double mean(const FlowVolumes& volumes, std::int64_t begin, std::int64_t end) {
        double sum = 0;
        for (std::int64_t a = 0; a < volumes.grid.a_scans; ++a) {
            for (std::int64_t z = begin; z < end; ++z) sum += volumes.value(a, z);
        }
        return sum / static_cast<double>(volumes.grid.a_scans * (end - begin));
    }

    static void show_all(ReconstructionSpec& spec) { spec.flow.threshold_db = -100; }

    // Speckle of mean power 1: still in the upper half, new in every repeat in the lower half, with noise 30 dB below.
    // `bulk_rms` is the random phase of whole lines.
    struct Scene {
        double still, flow;
    };
    Scene scene(FlowMethod method, double bulk_rms = 0) const {
        ComplexNormal normal(11);
        std::mt19937 random(12);
        std::normal_distribution<double> bulk(0, bulk_rms > 0 ? bulk_rms : 1);
        std::vector<std::complex<double>> speckle(a_scans * bins);
        for (auto& value : speckle) value = normal();
        double turn = 0;
        const auto field = [&](std::int64_t, std::int64_t a, std::int64_t z) {
            if (z == 1) turn = bulk_rms > 0 ? bulk(random) : 0;
            const std::complex<double> tissue = z < 40 ? speckle[index(a * bins + z)] : normal();
            return tissue * std::polar(1.0, turn) + std::pow(10, -1.5) * normal();
        };
        const auto volumes = run(method, 4, -30, field, show_all);
        return {mean(volumes, 4, 34), mean(volumes, 46, 60)};
    }
};

// E[D] = 1 - pi/4. The population variance of M amplitudes is (1 - 1/M) (1 - pi/4). Noise is 30 dB below.
TEST_P(Angiography, IndependentSpeckleHasItsAnalyticValues) {
    constexpr double rayleigh = 1 - std::numbers::pi / 4;
    ComplexNormal normal(9);
    const auto speckle = [&](std::int64_t, std::int64_t, std::int64_t) { return normal(); };
    for (const std::int64_t repeats : {2, 4}) {
        const double share = 1 - 1 / static_cast<double>(repeats);
        EXPECT_NEAR(mean(run(FlowMethod::decorrelation, repeats, -30, speckle, show_all), 1, bins), rayleigh, 0.004);
        EXPECT_NEAR(mean(run(FlowMethod::speckle_variance, repeats, -30, speckle, show_all), 1, bins) / 1000,
                    share * rayleigh, 0.005);
        EXPECT_NEAR(mean(run(FlowMethod::omag, repeats, -30, speckle, show_all), 1, bins) / std::sqrt(1000),
                    std::sqrt(std::numbers::pi / 2), 0.05);  // only chance bulk motion
    }
}

TEST_P(Angiography, IdenticalRepeatsShowNoFlow) {
    for (const FlowMethod method : angiography_methods()) {
        ComplexNormal normal(10);
        std::vector<std::complex<double>> speckle(a_scans * bins);
        for (auto& value : speckle) value = normal();
        const auto volumes = run(
            method, 3, -60, [&](std::int64_t, std::int64_t a, std::int64_t z) { return speckle[index(a * bins + z)]; });
        double most = 0;
        for (std::int64_t a = 0; a < a_scans; ++a) {
            for (std::int64_t z = 0; z < bins; ++z) most = std::max(most, volumes.value(a, z));
        }
        // Limits are roots of the rounding of float differences; omag is in units of the noise amplitude, -60 dB.
        const double least = method == FlowMethod::cdv ? 1e-3 : method == FlowMethod::omag ? 1e-3 : 2e-6;
        EXPECT_LE(most, least) << name_of(method);
    }
}

// Values of a float64 model: still tissue at 30 dB, and blood that is new in every repeat.
TEST_P(Angiography, FlowStandsOutFromTissue) {
    struct Expected {
        FlowMethod method;
        double still, flow, unit;
    };
    const Expected table[] = {
        {FlowMethod::speckle_variance, 0.00038, 0.161, 1000}, {FlowMethod::decorrelation, 0.0030, 0.2148, 1},
        {FlowMethod::omag, 0.0397, 1.25, std::sqrt(1000.0)},  {FlowMethod::cdv, 0.0320, 0.780, 1},
        {FlowMethod::correlation, 0.0024, 0.997, 1},          {FlowMethod::phase_variance, 0.0078, 1.55, 1},
    };
    for (const Expected& expected : table) {
        const Scene found = scene(expected.method);
        RecordProperty(name_of(expected.method) + "_still", std::to_string(found.still / expected.unit));
        RecordProperty(name_of(expected.method) + "_flow", std::to_string(found.flow / expected.unit));
        EXPECT_NEAR(found.still / expected.unit, expected.still, 0.1 * expected.still) << name_of(expected.method);
        EXPECT_NEAR(found.flow / expected.unit, expected.flow, 0.05 * expected.flow) << name_of(expected.method);
    }
}

// 0.6 rad rms per line: removed by methods that use phases, without effect on the others.
TEST_P(Angiography, BulkMotionDoesNotShow) {
    for (const FlowMethod method : angiography_methods()) {
        const Scene calm = scene(method), moving = scene(method, 0.6);
        EXPECT_NEAR(moving.still / calm.still, 1, 0.05) << name_of(method);
        EXPECT_NEAR(moving.flow / calm.flow, 1, 0.02) << name_of(method);
    }
    const Scene omag = scene(FlowMethod::omag, 0.6);
    RecordProperty("omag_ratio", std::to_string(omag.flow / omag.still));
    EXPECT_GE(omag.flow / omag.still, 26);
}

// Noise changes between repeats like flow, so the mask must exclude it. For still speckle of 0 to 30 dB, at most one
// voxel in a hundred may exceed half the value of blood.
TEST_P(Angiography, StillSceneOfAnyBrightnessStaysDark) {
    struct Limit {
        FlowMethod method;
        double half_of_flow;
    };
    const Limit limits[] = {{FlowMethod::decorrelation, 0.107},
                            {FlowMethod::cdv, 0.39},
                            {FlowMethod::correlation, 0.5},
                            {FlowMethod::phase_variance, 0.78}};
    for (const Limit& limit : limits) {
        ComplexNormal normal(13);
        std::vector<std::complex<double>> speckle(a_scans * bins);
        for (auto& value : speckle) value = normal();
        const auto still = [&](std::int64_t, std::int64_t a, std::int64_t z) {
            const double amplitude = std::pow(10, 30 * static_cast<double>(z - 1) / (bins - 2) / 20);
            return amplitude * speckle[index(a * bins + z)] + normal();
        };
        const auto share_above = [&](double threshold_db) {
            const auto volumes = run(limit.method, 4, 0, still,
                                     [&](ReconstructionSpec& spec) { spec.flow.threshold_db = threshold_db; });
            std::int64_t above = 0;
            for (const std::uint16_t code : volumes.flow) above += number_of_half(code) > limit.half_of_flow;
            return static_cast<double>(above) / static_cast<double>(volumes.flow.size());
        };
        const double masked = share_above(10), unmasked = share_above(-100);
        RecordProperty(name_of(limit.method), std::to_string(masked) + " of " + std::to_string(unmasked));
        EXPECT_LE(masked, 0.01) << name_of(limit.method);
        EXPECT_GT(unmasked, 0.03) << name_of(limit.method);  // otherwise there was nothing to mask
    }
}

// Narrow bands show the same decorrelation of blood with less scatter.
TEST_P(Angiography, SplitSpectrumScattersLess) {
    const auto found = [&](std::int64_t bands) {
        ComplexNormal normal(14);
        const auto blood = [&](std::int64_t, std::int64_t, std::int64_t) { return normal(); };
        const auto volumes = run(FlowMethod::decorrelation, 2, -40, blood, [&](ReconstructionSpec& spec) {
            spec.flow.sub_bands = bands;
            spec.flow.threshold_db = -100;
        });
        const double middle = mean(volumes, 10, 54);
        double sum = 0;
        for (std::int64_t a = 0; a < a_scans; ++a) {
            for (std::int64_t z = 10; z < 54; ++z) sum += std::pow(volumes.value(a, z) - middle, 2);
        }
        return std::pair{middle, std::sqrt(sum / (44 * a_scans))};
    };
    const auto [whole, whole_scatter] = found(1);
    const auto [split, split_scatter] = found(4);
    EXPECT_NEAR(split, whole, 0.01);
    EXPECT_NEAR(split_scatter / whole_scatter, 0.5, 0.12);  // four nearly independent bands
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Angiography);

}  // namespace echolux
