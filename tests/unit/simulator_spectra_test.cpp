// The simulated instrument compared with theory: the fast sum, mirrors, roll-off, dispersion, camera noise.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/indexing.h"
#include "engine/simulate/counter_random.h"
#include "engine/simulate/spectrometer.h"
#include "simulator_recording.h"

namespace echolux {
namespace {

using test::SimulatedRecording;

Simulation mirror_at(std::vector<double> depths_um, std::vector<double> amplitudes) {
    Simulation s;
    s.scene = "mirror";
    s.samples = 512;
    s.a_scans = 2;
    s.b_scans = 1;
    s.adc_bits = 16;
    s.full_well_electrons = 0;
    s.read_noise_electrons = 0;
    s.confocal = false;
    s.mirror_um = std::move(depths_um);
    s.mirror_amplitude = std::move(amplitudes);
    return s;
}

TEST(SimulatorSum, EqualsDirectSum) {
    for (const std::int64_t samples : {512, 1000}) {
        Simulation s;
        s.samples = samples;
        s.a2_rad = 30;
        s.a3_rad = -7;
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
    s.adc_bits = 12;
    s.a_scans = 400;
    s.full_well_electrons = 100'000;
    s.read_noise_electrons = 120;
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
    Simulation s = mirror_at({50}, {0.9});
    s.adc_bits = 12;
    s.reference_level = 0.9;
    const SimulatedRecording recording(s);
    const auto& line = recording.lines()[0];
    EXPECT_EQ(*std::max_element(line.begin(), line.end()), 4095);
    EXPECT_GT(std::count(line.begin(), line.end(), 4095), 20);
}

}  // namespace
}  // namespace echolux
