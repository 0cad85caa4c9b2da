// Simulated tissue and blood compared with optics: speckle statistics, lateral correlation, Doppler shift, agreement
// with the truth.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/indexing.h"
#include "engine/simulate/truth.h"
#include "simulator_recording.h"

namespace echolux {
namespace {

using test::SimulatedRecording;

Simulation noiseless(const std::string& scene) {
    Simulation s;
    s.scene = scene;
    s.samples = 256;
    s.adc_bits = 16;
    s.full_well_electrons = 0;
    s.read_noise_electrons = 0;
    s.relief = Relief::flat;
    return s;
}

// Depths in the third, bright layer of the flat scene, further apart than the point spread function.
std::vector<double> layer_depths(const SimulatedRecording& recording) {
    std::vector<double> depths;
    for (double part = 0.43; part < 0.575; part += 0.035) depths.push_back(part * recording.depth_range_um());
    return depths;
}

TEST(SimulatorSpeckle, IsFullyDeveloped) {
    Simulation s = noiseless("layers");
    s.a_scans = 40;
    s.b_scans = 40;
    s.spacing_a_um = 25;
    s.spacing_b_um = 25;
    const SimulatedRecording recording(s);
    double sum = 0;
    double square = 0;
    double count = 0;
    for (std::size_t line = 0; line < recording.lines().size(); ++line) {
        for (const double depth : layer_depths(recording)) {
            const double amplitude = std::abs(recording.amplitude(line, depth));
            sum += amplitude;
            square += amplitude * amplitude;
            ++count;
        }
    }
    const double mean = sum / count;
    EXPECT_NEAR(std::sqrt(square / count - mean * mean) / mean, std::sqrt(4 / std::numbers::pi - 1), 0.05 * 0.5227);
}

TEST(SimulatorSpeckle, NeighboursCorrelateByBeamProfile) {
    Simulation s = noiseless("layers");
    s.a_scans = 60;
    s.b_scans = 40;
    s.spacing_a_um = 2;
    s.spacing_b_um = 30;
    const SimulatedRecording recording(s);
    const std::vector<double> depths = layer_depths(recording);
    std::vector<std::vector<std::complex<double>>> field;  // [line][depth]
    for (std::size_t line = 0; line < recording.lines().size(); ++line) {
        auto& here = field.emplace_back();
        for (const double depth : depths) here.push_back(recording.amplitude(line, depth));
    }
    for (const std::size_t lag : {1U, 2U, 3U, 5U, 7U, 10U}) {
        std::complex<double> product = 0;
        double power = 0;
        for (std::size_t b = 0; b < 40; ++b) {
            for (std::size_t a = 0; a + lag < 60; ++a) {
                for (std::size_t d = 0; d < depths.size(); ++d) {
                    const auto left = field[b * 60 + a][d];
                    const auto right = field[b * 60 + a + lag][d];
                    product += right * std::conj(left);
                    power += (std::norm(left) + std::norm(right)) / 2;
                }
            }
        }
        const double dx = 2.0 * static_cast<double>(lag) / s.beam_radius_um;
        EXPECT_NEAR(std::abs(product) / power, std::exp(-dx * dx), 0.04) << lag;
    }
}

// The phase between repeated lines matches the true velocity, including its sign, everywhere in the lumen.
TEST(SimulatorBlood, ShiftsPhaseBySpeed) {
    for (const double flow : {0.4, -0.4}) {
        Simulation s = noiseless("capillary");
        s.samples = 512;
        s.a_scans = 40;
        s.b_scans = 6;
        s.spacing_a_um = 4;
        s.a_repeats = 2;
        s.tilt_deg = 8;
        s.flow_ul_s = flow;
        const SimulatedRecording recording(s);
        const Truth truth = read_truth(recording.folder() / "truth");
        const double k = recording.centroid_per_um();
        std::complex<double> left_over = 0;
        double expected_phase = 0;
        double count = 0;
        for (std::size_t place = 0; place < recording.lines().size() / 2; ++place) {
            const auto a = static_cast<std::int64_t>(place % 40);
            const auto b = static_cast<std::int64_t>(place / 40);
            for (double depth = 30; depth < 300; depth += 4) {
                const double speed = truth.axial_velocity_mm_s(a, b, depth, 0);
                if (std::abs(speed) < 0.5) continue;
                const double phase = 2 * k * recording.simulation().refractive_index * speed * 1000 / s.line_rate_hz;
                left_over += recording.amplitude(2 * place + 1, depth) *
                             std::conj(recording.amplitude(2 * place, depth)) * std::polar(1.0, -phase);
                expected_phase += phase;
                ++count;
            }
        }
        expected_phase /= count;
        EXPECT_GT(flow * expected_phase, 0);
        EXPECT_GT(std::abs(expected_phase), 0.3);
        EXPECT_NEAR(std::arg(left_over), 0, 0.005 * std::abs(expected_phase));
    }
}

TEST(SimulatorBlood, MovesInStaticTissue) {
    Simulation s = noiseless("vessel");
    s.a_scans = 48;
    s.b_scans = 8;
    s.b_repeats = 2;
    const SimulatedRecording recording(s);
    const Truth truth = read_truth(recording.folder() / "truth");
    const std::size_t frame = 48;
    std::size_t resting = 0;
    for (std::int64_t b = 0; b < 8; ++b) {
        for (std::int64_t a = 0; a < 48; ++a) {
            const std::size_t first = index(b) * 2 * frame + index(a);
            const bool same = recording.lines()[first] == recording.lines()[first + frame];
            const bool lumen = truth.en_face[index(b * 48 + a)] == 1;
            EXPECT_FALSE(lumen && same);
            if (same) ++resting;
        }
    }
    EXPECT_GT(resting, 48U);  // further from the lumens than the beam radius
}

TEST(SimulatorTruth, AgreesWithSpectra) {
    Simulation s;
    s.scene = "vessel";
    s.samples = 512;
    s.a_scans = 48;
    s.b_scans = 12;
    s.spacing_a_um = 16;
    const SimulatedRecording recording(s);
    const Truth truth = read_truth(recording.folder() / "truth");
    ASSERT_EQ(truth.facts.boundaries, 5);
    EXPECT_NEAR(truth.facts.pitch_um, recording.spectrometer().pitch_um / 1.38, 1e-9);
    double above = 0;
    double below = 0;
    double lumen = 0;
    double lumen_count = 0;
    double tissue = 0;
    double tissue_count = 0;
    for (std::int64_t b = 0; b < 12; ++b) {
        for (std::int64_t a = 0; a < 48; ++a) {
            const auto line = index(b * 48 + a);
            const double surface_um = truth.boundary_bin(0, a, b) * truth.facts.pitch_um;
            above += std::norm(recording.amplitude(line, surface_um - 6));
            below += std::norm(recording.amplitude(line, surface_um + 6));
            for (std::int64_t bin = 0; bin < truth.facts.depth_bins; bin += 4) {
                const auto at = index(truth.facts.depth_bins) * line + index(bin);
                const std::uint8_t label = truth.labels[at];
                if (label != 4 && label != lumen_label) continue;
                const double depth = static_cast<double>(bin) * truth.facts.pitch_um;
                const double power = std::norm(recording.amplitude(line, depth));
                (label == 4 ? tissue : lumen) += power;
                (label == 4 ? tissue_count : lumen_count) += 1;
            }
        }
    }
    EXPECT_GT(below, 20 * above);
    ASSERT_GT(lumen_count, 50);
    EXPECT_GT(lumen / lumen_count, 4 * tissue / tissue_count);
}

}  // namespace
}  // namespace echolux
