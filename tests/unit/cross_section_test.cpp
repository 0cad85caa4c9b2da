// Flow through sections of tubes with exact laminar velocities: pi r^2 peak / 2 passes through every plane.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numbers>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/analysis/intensity.h"
#include "engine/flow/cross_section.h"
#include "engine/flow/time_series.h"
#include "engine/offline/reconstruction.h"
#include "engine/simulate/truth.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

struct Tubing {
    double radius_um = 60, peak_mm_s = 20;
    double down = 0.1, sideways = 0.2;  // micrometres per micrometre along the tube
    double bend = 0;                    // of the depth, in um / um^2
    int along = 2;                      // axis
    double noise_mm_s = 0, v_max = 0;
    bool beats_back = false;  // flows in the opposite direction
};

VolumeGrid grid_of(const Tubing& tube) {
    return VolumeGrid{.depth = 128,
                      .a_scans = tube.along == 1 ? 48 : 64,
                      .b_scans = tube.along == 1 ? 64 : 48,
                      .spacing_um = {2, 4, 4},
                      .quantity = "velocity",
                      .unit = "mm/s",
                      .v_max = tube.v_max};
}

double true_flow_of(const Tubing& tube) {
    return std::numbers::pi * tube.radius_um * tube.radius_um * tube.peak_mm_s / 2 * 1e-6;
}

// The section perpendicular to a grid axis is a disc, as in the simulator's scenes. Flow along that axis is laminar,
// and blood follows the tube.
std::vector<float> velocities_in(const Tubing& tube, unsigned seed = 1) {
    const VolumeGrid grid = grid_of(tube);
    std::vector<float> values(index(grid.voxels()));
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 1);
    const std::int64_t length = tube.along == 1 ? grid.a_scans : grid.b_scans;
    const std::int64_t width = tube.along == 1 ? grid.b_scans : grid.a_scans;
    for (std::int64_t k = 0; k < grid.voxels(); ++k) {
        const std::int64_t a = k / grid.depth % grid.a_scans, b = k / grid.depth / grid.a_scans;
        const double s = 4 * (static_cast<double>(tube.along == 1 ? a : b) - static_cast<double>(length) / 2);
        const double x = 4 * (static_cast<double>(tube.along == 1 ? b : a) - static_cast<double>(width) / 2);
        const double z = 2 * (static_cast<double>(k % grid.depth) - 64);
        const double r = std::hypot(x - tube.sideways * s, z - tube.down * s - tube.bend * s * s) / tube.radius_um;
        const double slope = tube.down + 2 * tube.bend * s;
        double v = r < 1 ? tube.peak_mm_s * (1 - r * r) * slope : 0;
        if (tube.beats_back) v = -v;
        v += tube.noise_mm_s * noise(random) + 1e-7;  // exactly 0 would mean unknown
        if (tube.v_max > 0) v = std::remainder(v, 2 * tube.v_max);
        values[index(k)] = static_cast<float>(v);
    }
    return values;
}

struct FlowCase {
    VesselFlow vessel;
    std::vector<FlowValue> along;
    FlowValue section;
};

FlowCase found_in(const Tubing& tube, const CrossSectionRecipe& recipe = {},
                  const std::optional<VoxelPosition>& through = std::nullopt,
                  const std::optional<VoxelPosition>& towards = std::nullopt) {
    const VolumeGrid grid = grid_of(tube);
    const std::vector<float> velocities = velocities_in(tube);
    VelocitySum sum(grid);
    sum.add(velocities);
    VesselFlow vessel(grid, sum.mean(), recipe, through, towards);
    std::vector<FlowValue> along = vessel.along(velocities, {});
    FlowValue section = vessel.section(along);
    return {std::move(vessel), std::move(along), section};
}

double error_percent(const FlowCase& found, const Tubing& tube) {
    return 100 * (found.section.flow_ul_s / true_flow_of(tube) - 1);
}

TEST(CrossSection, MeasuresFlowOfTiltedTube) {
    for (const Tubing& tube : {Tubing{}, Tubing{.down = -0.1}, Tubing{.sideways = 0.8}, Tubing{.down = 0.4},
                               Tubing{.bend = 2e-4}, Tubing{.along = 1}, Tubing{.noise_mm_s = 0.1}}) {
        const FlowCase found = found_in(tube);
        ASSERT_EQ(found.vessel.reason(), FlowReason::ok);
        EXPECT_NEAR(error_percent(found, tube), 0, 2) << tube.down << ' ' << tube.sideways << ' ' << tube.along;
        EXPECT_EQ(found.vessel.course().across, tube.along);
        const double length = std::hypot(1, tube.down, tube.sideways);
        EXPECT_NEAR(found.vessel.course().tilt_deg, 180 / std::numbers::pi * std::asin(std::abs(tube.down) / length),
                    0.15);
        // One tenth of the area is slower than one tenth of the peak velocity.
        EXPECT_NEAR(found.section.area_mm2, 0.9 * std::numbers::pi * 3600e-6 / length,
                    0.03 * std::numbers::pi * 3600e-6);
    }
}

// Sections of constant depth need no angle, but must be within the volume.
TEST(CrossSection, EnFaceSectionsMeasureSameFlow) {
    const auto en_face = [](const Tubing& tube) {
        const VolumeGrid grid = grid_of(tube);
        VelocitySum sum(grid);
        sum.add(velocities_in(tube));
        const MeanVelocity mean = sum.mean();
        return VesselFlow(grid, mean, {}, std::nullopt, std::nullopt).en_face_ul_s(mean);
    };
    const Tubing steep{.radius_um = 30, .down = 1.2, .sideways = 0};
    EXPECT_NEAR(en_face(steep) / true_flow_of(steep), 1, 0.06);
    EXPECT_TRUE(std::isnan(en_face({})));
}

TEST(CrossSection, MeasuresSameFlowInEveryPlaneOfBentTube) {
    const Tubing tube{.down = 0.15, .bend = 2e-4};
    for (const FlowValue& value : found_in(tube).along) {
        if (value.reason != FlowReason::ok) continue;
        EXPECT_NEAR(value.flow_ul_s / true_flow_of(tube), 1, 0.03) << value.place_um;
    }
}

TEST(CrossSection, ReportsDirectionOfFlow) {
    const auto direction = [](const Tubing& tube) { return found_in(tube).vessel.course().direction; };
    EXPECT_GT(direction({})[2], 0);
    EXPECT_GT(direction({})[0], 0);
    const Tubing back{.beats_back = true};
    EXPECT_LT(direction(back)[2], 0);
    EXPECT_GT(found_in(back).section.flow_ul_s, 0);
    EXPECT_NEAR(error_percent(found_in(back), back), 0, 2);
}

TEST(CrossSection, UnwrapsVelocitiesBeyondVMax) {
    const Tubing once{.noise_mm_s = 0.05, .v_max = 1.25};  // axial peak of 2: 1.6 v_max
    const FlowCase found = found_in(once);
    EXPECT_NEAR(error_percent(found, once), 0, 3);
    EXPECT_GT(found.section.wrapped, 0.2);
    const Tubing twice{.noise_mm_s = 0.02, .v_max = 0.8};  // 2.5 v_max
    EXPECT_NEAR(error_percent(found_in(twice), twice), 0, 3);
    const Tubing often{.peak_mm_s = 200, .v_max = 0.5};  // 40 v_max
    EXPECT_EQ(found_in(often).section.reason, FlowReason::wrapped);
}

TEST(CrossSection, RejectsVesselPerpendicularToBeam) {
    const FlowCase found = found_in({.down = 0.02});
    EXPECT_EQ(found.vessel.reason(), FlowReason::angle);
    // Its flow depends on the permitted angle.
    CrossSectionRecipe recipe{.min_tilt_deg = 0.5, .angle_error_deg = 0};
    EXPECT_EQ(found_in({.down = 0.02}, recipe).vessel.reason(), FlowReason::ok);
}

TEST(CrossSection, CombinesErrorsOfAngleAndNoise) {
    const FlowCase found = found_in({.noise_mm_s = 0.2});
    const double tilt = found.vessel.course().tilt_deg * std::numbers::pi / 180;
    EXPECT_NEAR(found.vessel.angle_error(), 0.25 * std::numbers::pi / 180 / (std::sin(tilt) * std::cos(tilt)), 0.02);
    // Noise of 0.2 mm/s in about 1400 voxels of 8 um^2, divided by the slope of 0.1.
    const double plane = 0.2 * std::sqrt(1800.0) * 8e-6 / 0.1;
    for (const FlowValue& value : found.along) {
        if (value.reason != FlowReason::ok) continue;
        EXPECT_NEAR(value.error_ul_s / plane, 1, 0.5);
    }
}

TEST(CrossSection, PowerWeightsCorrectBlur) {
    const Tubing tube{.radius_um = 30};
    const VolumeGrid grid = grid_of(tube);
    std::vector<float> sharp = velocities_in(tube), power(sharp.size()), blurred(sharp.size());
    const auto at = [&](std::int64_t z, std::int64_t a, std::int64_t b) {
        return index((b * grid.a_scans + a) * grid.depth + z);
    };
    constexpr std::int64_t reach = 3;  // A-scans on either side, with equal weights
    for (std::int64_t b = 0; b < grid.b_scans; ++b) {
        for (std::int64_t a = reach; a < grid.a_scans - reach; ++a) {
            for (std::int64_t z = 0; z < grid.depth; ++z) {
                float light = 0, moving = 0;
                for (std::int64_t x = a - reach; x <= a + reach; ++x) {
                    const float v = sharp[at(z, x, b)], p = v > 1e-5F ? 1.0F : 0.02F;
                    light += p;
                    moving += p * v;
                }
                power[at(z, a, b)] = light / (2 * reach + 1);
                blurred[at(z, a, b)] = moving / light;
            }
        }
    }
    VelocitySum sum(grid);
    sum.add(blurred);
    const VesselFlow vessel(grid, sum.mean(), {}, std::nullopt, std::nullopt);
    const auto error = [&](const std::vector<float>& with) {
        return vessel.section(vessel.along(blurred, with)).flow_ul_s / true_flow_of(tube) - 1;
    };
    EXPECT_GT(error({}), 0.15);
    EXPECT_NEAR(error(power), 0, 0.06);
}

TEST(CrossSection, TakesCourseFromTwoPoints) {
    const Tubing tube{};
    const FlowCase found = found_in(tube, {}, VoxelPosition{32, 24, 64}, VoxelPosition{33, 29, 65});
    EXPECT_TRUE(found.vessel.course().is_given);
    EXPECT_NEAR(error_percent(found, tube), 0, 2);
    EXPECT_THROW(found_in(tube, {}, VoxelPosition{32, 24, 64}, VoxelPosition{32, 24, 64}), Error);
}

TEST(CrossSection, ReportsReasonOfFailure) {
    const Tubing tube{};
    EXPECT_THROW(found_in(tube, {}, VoxelPosition{2, 24, 10}), Error);    // no flow there
    EXPECT_THROW(found_in(tube, {}, VoxelPosition{200, 24, 10}), Error);  // outside the volume
    EXPECT_EQ(found_in({.radius_um = 200}).vessel.reason(), FlowReason::out_of_range);
    EXPECT_EQ(found_in({.noise_mm_s = 3, .v_max = 2}).vessel.reason(), FlowReason::no_signal);
    VolumeGrid grid = grid_of(tube);
    grid.b_scans = 1;
    EXPECT_THROW(require_velocities(grid), Error);
    grid = grid_of(tube);
    grid.unit = "dB";
    EXPECT_THROW(require_velocities(grid), Error);
    grid = grid_of(tube);
    grid.spacing_um[1] = 0;
    EXPECT_THROW(require_velocities(grid), Error);
}

TEST(CrossSection, RestingVolumeHasNoFlow) {
    const VolumeGrid grid = grid_of({});
    VelocitySum sum(grid);
    sum.add(std::vector<float>(index(grid.voxels())));
    EXPECT_THROW(VesselFlow(grid, sum.mean(), {}, std::nullopt, std::nullopt), Error);
}

// ---- heart rate

struct Pulse {
    double hz = 1.2, seconds = 5, step_s = 0.05, noise = 0.1, overtone = 0.2, begins_s = 0;
};

HeartRate rate_of(const Pulse& pulse, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 1);
    std::vector<double> times, flow;
    for (double t = 0; t < pulse.seconds; t += pulse.step_s) {
        const double phase = 2 * std::numbers::pi * pulse.hz * t;
        times.push_back(t + pulse.begins_s);
        flow.push_back(1 + 0.5 * std::sin(phase) + pulse.overtone * std::sin(2 * phase + 1) +
                       pulse.noise * noise(random));
    }
    return heart_rate_of(times, flow, 0.5, 3);
}

TEST(HeartRate, IsFoundWithinTwoPerCent) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        const double hz = 0.9 + 0.7 * seed / 40;
        for (const Pulse& pulse :
             {Pulse{hz, 5, 0.05, 0.1, 0.2, 7}, Pulse{hz, 3, 0.05, 0.1, 0}, Pulse{hz, 10, 0.125, 0.3, 0}}) {
            const HeartRate rate = rate_of(pulse, seed);
            ASSERT_TRUE(rate.is_found()) << rate.problem;
            EXPECT_NEAR(rate.hz / hz, 1, 0.02) << pulse.seconds;
            EXPECT_NEAR(rate.hz, hz, 5 * rate.error_hz + 1e-3);
        }
    }
}

TEST(HeartRate, PeaksWithFlow) {
    const HeartRate rate = rate_of({.noise = 0, .overtone = 0, .begins_s = 100});
    EXPECT_NEAR(rate.at(100 + 0.25 / 1.2), 1.5, 0.01);
    EXPECT_NEAR(rate.at(100 + 0.75 / 1.2), 0.5, 0.01);
    EXPECT_NEAR(rate.pulsatility, 1, 0.01);
}

// Less than a beat of 1.2 Hz: only rates of two beats, from 2.5 Hz on, are searched.
TEST(HeartRate, IsUnknownIfSlowerRateFitsBetter) {
    const HeartRate rate = rate_of({.seconds = 0.8, .step_s = 0.025, .noise = 0.02, .overtone = 0});
    EXPECT_THAT(rate.problem, testing::HasSubstr("fewer than two beats"));
}

TEST(HeartRate, AcceptsValuesInAnyOrder) {
    std::vector<double> times, flow;
    for (int i = 0; i < 40; ++i) {
        times.push_back(10 + 0.1 * ((7 * i) % 40));
        flow.push_back(1 + std::sin(2 * std::numbers::pi * 1.2 * times.back()));
    }
    EXPECT_NEAR(heart_rate_of(times, flow, 0.5, 3).hz, 1.2, 0.01);
    times.front() = 1e9;
    EXPECT_THAT(heart_rate_of(times, flow, 0.5, 3).problem, testing::StartsWith("1e+09 s are too long to search"));
    times.assign(times.size(), 10);
    EXPECT_EQ(heart_rate_of(times, flow, 0.5, 3).problem, "all values have the same time");
}

TEST(HeartRate, IsMissingWithoutEvidence) {
    EXPECT_FALSE(rate_of({.seconds = 0.05}).is_found());               // one value
    EXPECT_FALSE(rate_of({.seconds = 0.6}).is_found());                // half a beat
    EXPECT_FALSE(rate_of({.seconds = 20, .step_s = 0.6}).is_found());  // about one value per beat
    int found = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        std::normal_distribution<double> noise(1, 0.3);
        std::vector<double> times, flow;
        for (int i = 0; i < 80; ++i) {
            times.push_back(0.05 * i);
            flow.push_back(noise(random));
        }
        found += heart_rate_of(times, flow, 0.5, 3).is_found() ? 1 : 0;
    }
    EXPECT_LE(found, 4);  // 1 in 100, the level of the test
}

// ---- simulated blood, from spectra to uL/s --------------------------------------------------------------------------

struct SimulatedVolume {
    std::vector<float> velocities, power;
};

struct SimulatedFlow {
    VolumeGrid grid;
    std::vector<SimulatedVolume> volumes;
    TruthFacts truth;
};

SimulatedFlow simulated(const Simulation& simulation, std::int64_t window_lines) {
    const TemporaryFolder folder;
    SilentProgress silent;
    simulate(simulation, folder / "scan.toml", silent);
    Scan scan = with(open_scan(folder / "scan.toml"), "average=power flow.method=doppler");
    scan.flow.window_lines = window_lines;
    Reconstruction reconstruction(std::move(scan));
    SimulatedFlow result;
    for (std::int64_t v = 0; v < simulation.volumes; ++v) {
        const FlowedVolume made = reconstruction.run_with_flow({.volume = v}, silent);
        const Volume flow = flow_values(made.flow.value());
        result.grid = flow.grid;
        result.volumes.push_back({axial_velocities(flow), linear_intensity(made.structure)});
    }
    result.truth = read_truth(folder / "truth").facts;
    return result;
}

VesselFlow vessel_of(const SimulatedFlow& of, const std::optional<VoxelPosition>& through = std::nullopt) {
    VelocitySum sum(of.grid);
    for (const SimulatedVolume& volume : of.volumes) sum.add(volume.velocities);
    return {of.grid, sum.mean(), {}, through, std::nullopt};
}

double mean_ul_s(const TruthFacts& truth) {
    return std::numbers::pi * std::pow(truth.tube_radius_um[0], 2) * truth.tube_peak_mm_s[0] / 2 * 1e-6;
}

TEST(CrossSectionSimulated, SlowCapillaryWithinFivePerCent) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        Simulation s = with(Simulation{}, "scene=capillary a_scans=128 b_scans=24 a_repeats=4");
        s.seed = static_cast<std::int64_t>(seed);
        const SimulatedFlow of = simulated(s, 4);
        const VesselFlow vessel = vessel_of(of);
        ASSERT_EQ(vessel.reason(), FlowReason::ok);
        const auto error = [&](const std::vector<float>& power) {
            return vessel.section(vessel.along(of.volumes[0].velocities, power)).flow_ul_s / mean_ul_s(of.truth) - 1;
        };
        const double weighted = error(of.volumes[0].power), plain = error({});
        std::printf("capillary, seed %d: %+.1f %%, without structure %+.1f %%; %.2f +- %.2f degrees\n",
                    static_cast<int>(seed), 100 * weighted, 100 * plain, 90 - vessel.course().tilt_deg,
                    vessel.course().tilt_error_deg);
        EXPECT_NEAR(weighted, 0, 0.05);
        EXPECT_NEAR(plain, 0, 0.05);
        EXPECT_NEAR(vessel.course().tilt_deg, s.tilt_deg, 0.1);
    }
}

TEST(CrossSectionSimulated, SlowFindsFlowWithinFivePercentAndRateWithinTwoPercent) {
    for (const std::uint64_t seed : {1U, 2U}) {
        Simulation s;
        set(s, "scene=vessel samples=512 a_scans=64 b_scans=24 volumes=8 a_repeats=3 line_rate_hz=9000");
        s.seed = static_cast<std::int64_t>(seed);
        const SimulatedFlow of = simulated(s, 1);
        const VesselFlow vessel = vessel_of(of);
        ASSERT_EQ(vessel.reason(), FlowReason::ok);
        const double volume_s = static_cast<double>(s.a_scans * s.a_repeats * s.b_scans) / s.line_rate_hz;
        std::vector<double> times, flow;
        double sum = 0, true_sum = 0;
        for (std::size_t v = 0; v < of.volumes.size(); ++v) {
            for (const FlowValue& value : vessel.along(of.volumes[v].velocities, of.volumes[v].power)) {
                if (value.reason != FlowReason::ok) continue;
                times.push_back((static_cast<double>(v) + value.when) * volume_s);
                flow.push_back(value.flow_ul_s);
                sum += value.flow_ul_s;
                true_sum +=
                    mean_ul_s(of.truth) *
                    (1 + of.truth.pulsation * std::sin(2 * std::numbers::pi * of.truth.heart_rate_hz * times.back()));
            }
        }
        const HeartRate heart = heart_rate_of(times, flow, 0.5, 3);
        std::printf("vessel, seed %d: %+.1f %%, heart %.3f Hz (%+.2f %%), pulsatility %.2f\n", static_cast<int>(seed),
                    100 * (sum / true_sum - 1), heart.hz, 100 * (heart.hz / of.truth.heart_rate_hz - 1),
                    heart.pulsatility);
        EXPECT_NEAR(sum / true_sum, 1, 0.05);
        ASSERT_TRUE(heart.is_found()) << heart.problem;
        EXPECT_NEAR(heart.hz / of.truth.heart_rate_hz, 1, 0.02);
        EXPECT_NEAR(heart.pulsatility, 2 * of.truth.pulsation, 0.1);
    }
}

}  // namespace
}  // namespace echolux
