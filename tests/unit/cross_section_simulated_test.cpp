// Flow of simulated blood, from spectra to ul/s: the capillary and the pulsating vessel compared with their true flow,
// printed as a table.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#include "engine/analysis/intensity.h"
#include "engine/flow/cross_section.h"
#include "engine/flow/time_series.h"
#include "engine/offline/reconstruction.h"
#include "engine/simulate/truth.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

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
    Scan scan = open_scan(folder / "scan.toml");
    scan.recipe.average = Average::power;
    scan.flow.method = FlowMethod::doppler;
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
        Simulation s;
        s.scene = "capillary";
        s.a_scans = 128;
        s.b_scans = 24;
        s.a_repeats = 4;
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
        s.scene = "vessel";
        s.samples = 512;
        s.a_scans = 64;
        s.b_scans = 24;
        s.volumes = 8;
        s.a_repeats = 3;
        s.line_rate_hz = 9000;
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
