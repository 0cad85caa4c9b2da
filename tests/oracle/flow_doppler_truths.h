// Requirements for Doppler on known motions (docs/algorithms.md 5.1), for either backend. Includers instantiate
// Doppler.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compute/flow/flow_tables.h"
#include "compute/indexing.h"
#include "tests/oracle/flow_run.h"
#include "tests/oracle/instrument.h"
#include "tests/oracle/moving_tissue.h"
#include "tests/support/set_fields.h"

namespace echolux {

using std::numbers::pi;

class Doppler : public testing::TestWithParam<FlowMachine> {
  protected:
    static constexpr double refractive_index = 1.38, depth_um = 500;
    static constexpr std::int64_t lines = 8;

    const ClosedFormInstrument instrument;

    FlowVolumes run(const ReconstructionSpec& spec, const std::vector<float>& spectra) const {
        return flow_of(GetParam(), spec, bytes_of_lines(spectra));
    }
    FlowVolumes run(const ReconstructionSpec& spec, const LineBins& fields) const {
        return run(spec, spectra_of(fields));
    }

    // The instrument at 70 kHz, with `b_scans` reflectors.
    ReconstructionSpec instrument_spec(std::int64_t b_scans) const {
        ReconstructionSpec spec = plain_spec(ClosedFormInstrument::samples, lines);
        spec.geometry.b_scans = b_scans;
        spec.geometry.refractive_index = refractive_index;
        spec.geometry.line_rate_hz = 70'000;
        spec.calibration.wavelengths_nm = instrument.wavelengths_nm;
        for (const double k : instrument.pixel_k) spec.calibration.background.push_back(1000 * instrument.source(k));
        set(spec,
            "background=stored resample=spline window=hann quantity=intensity voxel=f32 noise_floor_db=-300 "
            "flow.method=doppler");
        return spec;
    }

    // The reflector of each B-scan moves with its velocity; positive is away from zero delay.
    std::vector<float> moving(const ReconstructionSpec& spec, const std::vector<double>& velocities_mm_s,
                              double noise_rms) const {
        std::mt19937 random(5);
        std::normal_distribution<double> noise;  // standard deviation 1, because 0 is not allowed
        std::vector<float> spectra;
        for (const double velocity : velocities_mm_s) {
            for (std::int64_t line = 0; line < lines; ++line) {
                const double distance_um = velocity * 1000 * static_cast<double>(line) / spec.geometry.line_rate_hz;
                const auto fringe = instrument.fringe(instrument.pixel_k, depth_um + refractive_index * distance_um);
                for (std::size_t p = 0; p < fringe.size(); ++p) {
                    const double light = spec.calibration.background[p] + 100 * static_cast<double>(fringe[p]);
                    spectra.push_back(static_cast<float>(light + noise_rms * noise(random)));
                }
            }
        }
        return spectra;
    }

    std::int64_t bin() const { return std::lround(instrument.bin_of(depth_um)); }

    struct Regression {
        double slope, intercept;  // the intercept is relative to v_max
    };

    // Regression of measured on true velocities over +-0.9 v_max, with `each` repetitions.
    Regression regression(int each, double noise_rms) const {
        constexpr int steps = 19;
        ReconstructionSpec spec = instrument_spec(std::int64_t{steps} * each);
        const double v_max = planned_flow_grid(spec)->v_max;
        std::vector<double> truth;
        for (int i = 0; i < steps * each; ++i) truth.push_back(v_max * 0.9 * (2.0 * (i % steps) / (steps - 1) - 1));
        const FlowVolumes volumes = run(spec, moving(spec, truth, noise_rms));
        double xx = 0, xy = 0, y = 0;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            const auto phasor = volumes.phasor(lines / 2, bin(), static_cast<std::int64_t>(i));
            const double measured = std::arg(phasor) / pi * v_max;
            xx += truth[i] * truth[i];
            xy += truth[i] * measured;
            y += measured;
        }
        return {xy / xx, y / static_cast<double>(truth.size()) / v_max};
    }

    // Sample noise that gives this signal-to-noise ratio at the reflector's bin.
    double noise_for(double snr_db) const {
        ReconstructionSpec spec = instrument_spec(1);
        const double signal = double{run(spec, moving(spec, {0.0}, 0)).structure[index(bin())]};
        constexpr double hann_noise = 1.5;  // mean of w^2 over the square of the mean of w
        return std::sqrt(signal * std::pow(10, -snr_db / 10) * ClosedFormInstrument::samples / hann_noise);
    }
};

TEST_P(Doppler, UsesWavelengthOfCentroid) {
    const ReconstructionSpec spec = instrument_spec(1);
    EXPECT_NEAR(effective_wavelength_um(spec) * 1000, 838.69, 0.1);
    EXPECT_NEAR(planned_flow_grid(spec)->v_max, 838.69e-6 * 70'000 / (4 * refractive_index), 0.002);
}

TEST_P(Doppler, MeasuresWithoutBias) {
    const Regression found = regression(1, 0);
    RecordProperty("slope", std::to_string(found.slope));
    RecordProperty("intercept", std::to_string(found.intercept));
    EXPECT_NEAR(found.slope, 1, 0.003);
    EXPECT_NEAR(found.intercept, 0, 0.005);
}

TEST_P(Doppler, MeasuresWithoutBiasAt20Decibel) {
    const Regression found = regression(12, noise_for(20));
    RecordProperty("slope", std::to_string(found.slope));
    RecordProperty("intercept", std::to_string(found.intercept));
    EXPECT_NEAR(found.slope, 1, 0.01);
    EXPECT_NEAR(found.intercept, 0, 0.005);
}

// v = 1.05 v_max has the phase of -0.95 v_max.
TEST_P(Doppler, WrapsBeyondNyquistVelocity) {
    const ReconstructionSpec spec = instrument_spec(2);
    const double v_max = planned_flow_grid(spec)->v_max;
    const FlowVolumes volumes = run(spec, moving(spec, {1.05 * v_max, -1.05 * v_max}, 0));
    EXPECT_NEAR(std::arg(volumes.phasor(4, bin(), 0)), -0.95 * pi, 0.01);
    EXPECT_NEAR(std::arg(volumes.phasor(4, bin(), 1)), 0.95 * pi, 0.01);
}

// Beyond zero delay, as in a flipped scan, the same bin moves in the opposite direction.
TEST_P(Doppler, DistinguishesDirections) {
    ReconstructionSpec spec = instrument_spec(1);
    const double velocity = planned_flow_grid(spec)->v_max / 3;
    const auto away = moving(spec, {velocity}, 0);
    EXPECT_NEAR(std::arg(run(spec, away).phasor(4, bin())), pi / 3, 0.02);
    spec.flow.invert = true;
    EXPECT_NEAR(std::arg(run(spec, away).phasor(4, bin())), -pi / 3, 0.02);
    spec.geometry.depth_flip = true;
    const std::int64_t row = ClosedFormInstrument::samples / 2 - 1 - bin();
    EXPECT_NEAR(std::arg(run(spec, away).phasor(4, row)), pi / 3, 0.02);
}

// sigma = 1 / sqrt(SNR) for single pairs.
TEST_P(Doppler, ScattersByNoise) {
    constexpr std::int64_t bins = 64, many = 400;
    for (const double snr_db : {10.0, 15.0, 20.0, 30.0, 40.0}) {
        const double noise = std::pow(10, -snr_db / 20);
        ComplexNormal normal(3);
        LineBins fields(many, bins);
        for (auto& value : fields.values) value = 1.0 + noise * normal();
        ReconstructionSpec spec = field_spec(fields, FlowMethod::doppler);
        spec.flow.window_depth = spec.flow.window_lines = 1;
        const FlowVolumes volumes = run(spec, fields);
        double sum = 0;
        for (std::int64_t a = 0; a < many - 1; ++a) {
            for (std::int64_t z = 1; z < bins; ++z) sum += std::norm(std::arg(volumes.phasor(a, z)));
        }
        const double sigma = std::sqrt(sum / static_cast<double>((many - 1) * (bins - 1)));
        RecordProperty("sigma_" + std::to_string(std::lround(snr_db)), std::to_string(sigma));
        EXPECT_NEAR(sigma / noise, 1, 0.1) << snr_db;
    }
}

// Near v_max, single phases wrap but their sums do not: the result is the angle of the mean, not the mean of angles.
TEST_P(Doppler, AveragesPhasorsNotAngles) {
    constexpr std::int64_t bins = 64, many = 100;
    ComplexNormal normal(4);
    LineBins fields(many, bins);
    for (std::int64_t a = 0; a < many; ++a) {
        for (std::int64_t z = 1; z < bins; ++z) {
            fields.at(a, z) = std::polar(1.0, 0.97 * pi * static_cast<double>(a)) + 0.1 * normal();
        }
    }
    ReconstructionSpec spec = with(field_spec(fields, FlowMethod::doppler), "window_depth=9 window_lines=16");
    const FlowVolumes volumes = run(spec, fields);
    for (std::int64_t a = 8; a < many - 9; ++a) EXPECT_NEAR(std::arg(volumes.phasor(a, 32)), 0.97 * pi, 0.03);
}

// A vessel whose centre exceeds v_max: interpolation between neighbours across the seam stays fast.
TEST_P(Doppler, SlowInterpolationAcrossSeamStaysFast) {
    constexpr std::int64_t bins = 64, many = 40;
    LineBins fields(many, bins);
    const auto phase_at = [](std::int64_t z) {
        return 1.2 * pi * (1 - std::pow((static_cast<double>(z) - 32) / 24, 2));
    };
    for (std::int64_t a = 0; a < many; ++a) {
        for (std::int64_t z = 9; z < 56; ++z) fields.at(a, z) = std::polar(1.0, phase_at(z) * static_cast<double>(a));
    }
    ReconstructionSpec spec = field_spec(fields, FlowMethod::doppler);
    spec.recipe.noise_floor_db = -60;
    const FlowVolumes volumes = run(spec, fields);
    int crossings = 0;
    for (std::int64_t z = 12; z < 52; ++z) {
        const auto here = volumes.phasor(20, z), next = volumes.phasor(20, z + 1);
        if (std::abs(std::arg(here)) < 0.5 * pi || std::abs(std::arg(next)) < 0.5 * pi) continue;
        crossings += std::arg(here) * std::arg(next) < 0;
        for (double t = 0; t <= 1; t += 0.125) EXPECT_GT(std::abs(std::arg((1 - t) * here + t * next)), 0.2 * pi) << z;
    }
    EXPECT_EQ(crossings, 2);
}

// ---- bulk motion ----------------------------------------------------------------------------------------------------

TEST_P(Doppler, BulkMotionIsRemoved) {
    const MovingTissue tissue;
    ReconstructionSpec spec = with(field_spec(tissue.fields, FlowMethod::doppler), "noise_floor_db=-20 window_depth=5");
    const double before = MovingTissue::rms(run(spec, tissue.fields));
    spec.flow.bulk_motion = true;
    const FlowVolumes after = run(spec, tissue.fields);
    RecordProperty("before", std::to_string(before));
    RecordProperty("after", std::to_string(MovingTissue::rms(after)));
    EXPECT_GT(before, 0.2);
    EXPECT_LE(MovingTissue::rms(after), 0.02);
    EXPECT_NEAR(std::arg(after.phasor(60, 112)), 1.5 + 0.03 * 12, 0.05);  // the vessel is unchanged
}

// If less than half of the tissue is still, its motion is unknown and nothing is removed.
TEST_P(Doppler, KeepsBulkMotionOfMostlyMovingLines) {
    const MovingTissue tissue(0.7);
    ReconstructionSpec spec = field_spec(tissue.fields, FlowMethod::doppler);
    spec.recipe.noise_floor_db = -20;
    const FlowVolumes before = run(spec, tissue.fields);
    spec.flow.bulk_motion = true;
    EXPECT_EQ(run(spec, tissue.fields).flow, before.flow);
}

// ---- unwrapping -----------------------------------------------------------------------------------------------------

// A parabola of 3 pi with steps below pi per bin is recovered as velocities in mm/s, with both signs.
TEST_P(Doppler, UnwrapsParabolaOfThreePi) {
    constexpr std::int64_t bins = 128, many = 12;
    for (const double sign : {1.0, -1.0}) {
        LineBins fields(many, bins);
        const auto phase_at = [&](std::int64_t z) {
            return sign * 3 * pi * std::max(0.0, 1 - std::pow((static_cast<double>(z) - 64) / 40, 2));
        };
        for (std::int64_t a = 0; a < many; ++a) {
            for (std::int64_t z = 10; z < 120; ++z)
                fields.at(a, z) = std::polar(1.0, phase_at(z) * static_cast<double>(a));
        }
        ReconstructionSpec spec = field_spec(fields, FlowMethod::doppler);
        set(spec, "noise_floor_db=-60 window_depth=1 unwrap=true");
        const FlowVolumes volumes = run(spec, fields);
        EXPECT_EQ(volumes.grid.type, VoxelType::f16);
        for (std::int64_t z = 0; z < bins; ++z) {
            const double expected = z < 10 || z >= 120 ? 0 : phase_at(z) * volumes.grid.v_max / pi;
            EXPECT_NEAR(volumes.value(5, z), expected, 5e-4 * std::abs(expected) + 2e-4) << z;
        }
    }
}

// Behind a gap in the mask, turns are counted from the previous line at the same depth.
TEST_P(Doppler, UnwrapsFromPreviousLineBehindGap) {
    constexpr std::int64_t bins = 128, many = 12;
    LineBins fields(many, bins);
    for (std::int64_t a = 0; a < many; ++a) {
        for (std::int64_t z = 10; z < 120; ++z) {
            const double amplitude = a >= 6 && z < 60 ? 1e-4 : 1;  // masks the foot of the ramp
            const double phase = 1.4 * pi * static_cast<double>(z - 10) / 50;
            fields.at(a, z) = std::polar(amplitude, phase * static_cast<double>(a));
        }
    }
    ReconstructionSpec spec = field_spec(fields, FlowMethod::doppler);
    set(spec, "noise_floor_db=-60 window_depth=1 window_lines=1 unwrap=true");
    const FlowVolumes volumes = run(spec, fields);
    const double expected = 1.4 * 70.0 / 50 * volumes.grid.v_max;
    EXPECT_NEAR(volumes.value(4, 80), expected, 1e-3 * expected);
    EXPECT_EQ(volumes.value(8, 40), 0);
    EXPECT_NEAR(volumes.value(8, 80), expected, 1e-3 * expected);
}

// ---- intervals ------------------------------------------------------------------------------------------------------

TEST_P(Doppler, ReportsNyquistVelocity) {
    const LineBins fields(24, 32);
    const double line_rate_hz = 70'000, wavelength_mm = 840e-6;
    ReconstructionSpec spec = with(field_spec(fields, FlowMethod::doppler), "refractive_index=1.33 average=power");
    const double of_lines = wavelength_mm * line_rate_hz / (4 * 1.33);
    EXPECT_NEAR(planned_flow_grid(spec)->v_max, of_lines, 1e-9);
    spec.flow.angle_deg = 60;
    EXPECT_NEAR(planned_flow_grid(spec)->v_max, 2 * of_lines, 1e-9);
    set(spec, "angle_deg=0 a_scans=6 b_repeats=4 flyback_lines=4");
    spec.geometry.flyback_frames = 3;  // after all repeats
    EXPECT_NEAR(planned_flow_grid(spec)->v_max, of_lines / 10, 1e-9);
    spec.geometry.a_scans = 3;
    spec.geometry.a_repeats = 2;  // closer in time than B-scan repeats
    EXPECT_NEAR(planned_flow_grid(spec)->v_max, of_lines, 1e-9);
    spec.geometry.line_rate_hz = 0;
    EXPECT_EQ(planned_flow_grid(spec)->v_max, 0);
    spec.geometry.line_rate_hz = line_rate_hz;
    spec.calibration.centre_wavelength_nm = 0;
    EXPECT_EQ(planned_flow_grid(spec)->v_max, 0);
}

// Phases of lines, repeated lines and repeated B-scans belong to their own intervals.
TEST_P(Doppler, ComparesMatchingLines) {
    constexpr std::int64_t bins = 32;
    LineBins fields(24, bins);
    const auto expect_phase = [&](const ReconstructionSpec& spec, double phase) {
        const FlowVolumes volumes = run(spec, fields);
        for (std::int64_t a = 0; a < volumes.grid.a_scans; ++a) {
            EXPECT_NEAR(std::arg(volumes.phasor(a, 16)), phase, 0.006) << a;
        }
    };
    ReconstructionSpec spec = field_spec(fields, FlowMethod::doppler);
    spec.recipe.average = Average::power;
    for (std::int64_t line = 0; line < 24; ++line) {
        for (std::int64_t z = 1; z < bins; ++z) fields.at(line, z) = std::polar(1.0, 0.3 * static_cast<double>(line));
    }
    expect_phase(spec, 0.3);
    set(spec, "a_scans=6 a_repeats=4");
    for (std::int64_t line = 0; line < 24; ++line) {  // the phase jumps between positions
        const double phase = 0.3 * static_cast<double>(line % 4) + 2.1 * static_cast<double>(line / 4);
        for (std::int64_t z = 1; z < bins; ++z) fields.at(line, z) = std::polar(1.0, phase);
    }
    expect_phase(spec, 0.3);
    std::swap(spec.geometry.a_repeats, spec.geometry.b_repeats);
    for (std::int64_t line = 0; line < 24; ++line) {
        const double phase = 0.7 * static_cast<double>(line / 6) + 2.1 * static_cast<double>(line % 6);
        for (std::int64_t z = 1; z < bins; ++z) fields.at(line, z) = std::polar(1.0, phase);
    }
    expect_phase(spec, 0.7);
}

// Moving voxels keep their brightness; still ones are as dark as the noise.
TEST_P(Doppler, PowerDopplerShowsChanges) {
    constexpr std::int64_t bins = 64, many = 200;
    ComplexNormal normal(8);
    LineBins fields(many, bins);
    for (std::int64_t a = 0; a < many; ++a) {
        for (std::int64_t z = 1; z < bins; ++z) fields.at(a, z) = (z < 32 ? 10.0 : 10.0 * normal()) + 0.1 * normal();
    }
    ReconstructionSpec spec = field_spec(fields, FlowMethod::power_doppler);
    spec.recipe.noise_floor_db = -20 + 10 * std::log10(std::log(2.0));  // a median
    set(spec, "window_depth=8 window_lines=16");
    const FlowVolumes volumes = run(spec, fields);
    double still = 0, moves = 0;
    for (std::int64_t a = 20; a < 180; ++a) {
        still += volumes.value(a, 16) / 160;
        moves += volumes.value(a, 48) / 160;
    }
    EXPECT_NEAR(still, 0.3, 0.3);  // noise, except for values below 0 dB
    EXPECT_NEAR(moves, 40, 0.5);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Doppler);

}  // namespace echolux
