// The simulated instrument compared with theory: the fast sum, mirrors, roll-off, dispersion, camera noise, speckle
// and blood.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/indexing.h"
#include "engine/simulate/counter_random.h"
#include "engine/simulate/spectrometer.h"
#include "engine/simulate/truth.h"
#include "simulator_recording.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using test::SimulatedRecording;

Simulation mirror_at(std::vector<double> depths_um, std::vector<double> amplitudes) {
    Simulation s = with(Simulation{},
                        "scene=mirror samples=512 a_scans=2 b_scans=1 adc_bits=16 "
                        "full_well_electrons=0 read_noise_electrons=0 confocal=false");
    s.mirror_um = std::move(depths_um);
    s.mirror_amplitude = std::move(amplitudes);
    return s;
}

TEST(SimulatorSum, EqualsDirectSum) {
    for (const std::int64_t samples : {512, 1000}) {
        Simulation s = with(Simulation{}, "a2_rad=30 a3_rad=-7");
        s.samples = samples;
        const Spectrometer spectrometer(s);
        const double deepest = 0.9 * spectrometer.z_max_um();
        const SpectrumSum sum(spectrometer, deepest);
        struct Slab {
            std::vector<float> u, real, imaginary;
        };
        std::vector<Slab> slabs(index(sum.slabs()));
        std::vector<double> expected(index(samples));
        for (std::uint64_t i = 0; i < 500; ++i) {
            const double z = fraction(hashed(1, i)) * deepest;
            const double amplitude = 0.5 + fraction(hashed(2, i));
            const std::int64_t number = sum.slab_of(z);
            Slab& slab = slabs.at(index(number));
            slab.u.push_back(sum.place_in(number, z));
            slab.real.push_back(static_cast<float>(amplitude * std::cos(2 * spectrometer.k0_per_um * z)));
            slab.imaginary.push_back(static_cast<float>(amplitude * std::sin(2 * spectrometer.k0_per_um * z)));
            for (std::size_t p = 0; p < expected.size(); ++p) {
                expected[p] += amplitude * std::cos(2 * spectrometer.k_per_um[p] * z + spectrometer.theta_rad[p]);
            }
        }
        std::vector<float> moments(sum.moments());
        for (std::int64_t number = 0; number < sum.slabs(); ++number) {
            const Slab& slab = slabs[index(number)];
            sum.add(number, {slab.u.data(), slab.real.data(), slab.imaginary.data(), std::ssize(slab.u)}, moments);
        }
        std::vector<float> fringes(expected.size());
        sum.fringes(moments, fringes);
        double error = 0;
        double power = 0;
        for (std::size_t p = 0; p < expected.size(); ++p) {
            error += std::pow(static_cast<double>(fringes[p]) - expected[p], 2);
            power += expected[p] * expected[p];
        }
        EXPECT_LT(std::sqrt(error / power), 1e-5);
    }
}

TEST(SimulatorMirror, PeaksAtItsDepthOnPositiveSide) {
    Simulation s = mirror_at({101.3}, {0.2});
    s.a2_rad = 20;
    const SimulatedRecording recording(s);
    double best_um = 0;
    for (double z = -200; z < 200; z += 0.05) {
        if (std::abs(recording.amplitude(0, z)) > std::abs(recording.amplitude(0, best_um))) best_um = z;
    }
    EXPECT_NEAR(best_um, 101.3, 0.02 * recording.spectrometer().pitch_um);
    EXPECT_GT(std::abs(recording.amplitude(0, 101.3)), 2 * std::abs(recording.amplitude(0, 101.3, -1)));
    // Half of the fringe: amplitude / 2 of the reference light, weighted by the window.
    double light = 0;
    double weights = 0;
    for (std::size_t p = 1; p + 1 < recording.background().size(); ++p) {
        light += recording.window(p) * (static_cast<double>(recording.background()[p]) - s.dark_counts);
        weights += recording.window(p);
    }
    const double roll_off = recording.spectrometer().roll_off(101.3);
    EXPECT_NEAR(std::abs(recording.amplitude(0, 101.3)), 0.1 * roll_off * light / weights, 0.002 * light / weights);
}

// Amplitude of the fringe cos(2 k z), by a least squares fit over all samples.
double fringe_amplitude(const SimulatedRecording& recording, double depth_um) {
    const Spectrometer& spectrometer = recording.spectrometer();
    double against = 0;
    double power = 0;
    for (std::size_t p = 0; p < recording.background().size(); ++p) {
        const double fringe = spectrometer.source[p] * std::cos(2 * spectrometer.k_per_um[p] * depth_um);
        against += fringe * (recording.lines()[0][p] - static_cast<double>(recording.background()[p]));
        power += fringe * fringe;
    }
    return against / power;
}

TEST(SimulatorMirror, RollsOffByPixelWidth) {
    const double z_max = Spectrometer(mirror_at({0}, {0})).z_max_um();
    const double at_zero = fringe_amplitude(SimulatedRecording(mirror_at({0.02}, {0.2})), 0.02);
    const std::vector<std::pair<double, double>> expected{{0.25, -0.224}, {0.5, -0.912}, {1, -3.922}};
    for (const auto& [part, loss_db] : expected) {
        const double depth = part * z_max * 0.999999;
        const double amplitude = fringe_amplitude(SimulatedRecording(mirror_at({depth}, {0.2})), depth);
        EXPECT_NEAR(20 * std::log10(amplitude / at_zero), loss_db, 0.005) << part;
    }
}

TEST(SimulatorCamera, NoiseHasStatedVariance) {
    Simulation s = mirror_at({50}, {0});
    set(s, "adc_bits=12 a_scans=400 full_well_electrons=100000 read_noise_electrons=120");
    const SimulatedRecording recording(s);
    const double gain = 4095 / s.full_well_electrons;
    double ratio = 0;
    double bias = 0;
    for (std::size_t p = 0; p < 512; ++p) {
        double mean = 0;
        double square = 0;
        for (const auto& line : recording.lines()) {
            mean += line[p] / 400.0;
            square += line[p] * static_cast<double>(line[p]) / 400.0;
        }
        const double light = recording.spectrometer().source[p] * s.reference_level * 4095;
        const double variance = light * gain + std::pow(s.read_noise_electrons * gain, 2) + 1.0 / 12;
        ratio += (square - mean * mean) * 400 / 399 / variance / 512;
        bias += (mean - s.dark_counts - light) / 512;
    }
    EXPECT_NEAR(ratio, 1, 0.02);
    EXPECT_NEAR(bias, 0, 0.05);
}

TEST(SimulatorCamera, SaturatesAtFullScale) {
    Simulation s = with(mirror_at({50}, {0.9}), "adc_bits=12 reference_level=0.9");
    const SimulatedRecording recording(s);
    const auto& line = recording.lines()[0];
    EXPECT_EQ(*std::max_element(line.begin(), line.end()), 4095);
    EXPECT_GT(std::count(line.begin(), line.end(), 4095), 20);
}

// ---- tissue and blood -----------------------------------------------------------------------------------------------

Simulation noiseless(const std::string& scene) {
    Simulation s;
    set(s, "samples=256 adc_bits=16 full_well_electrons=0 read_noise_electrons=0 relief=flat");
    s.scene = scene;
    return s;
}

// Depths in the third, bright layer of the flat scene, further apart than the point spread function.
std::vector<double> layer_depths(const SimulatedRecording& recording) {
    std::vector<double> depths;
    for (double part = 0.43; part < 0.575; part += 0.035) depths.push_back(part * recording.depth_range_um());
    return depths;
}

TEST(SimulatorSpeckle, IsFullyDeveloped) {
    Simulation s = with(noiseless("layers"), "a_scans=40 b_scans=40 spacing_a_um=25 spacing_b_um=25");
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
    Simulation s = with(noiseless("layers"), "a_scans=60 b_scans=40 spacing_a_um=2 spacing_b_um=30");
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
        set(s, "samples=512 a_scans=40 b_scans=6 spacing_a_um=4 a_repeats=2 tilt_deg=8");
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
    Simulation s = with(noiseless("vessel"), "a_scans=48 b_scans=8 b_repeats=2");
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
    Simulation s = with(Simulation{}, "scene=vessel samples=512 a_scans=48 b_scans=12 spacing_a_um=16");
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
