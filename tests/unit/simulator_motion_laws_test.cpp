// Simulated motion: each part has the size, spectrum and statistics that its settings specify.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <tuple>

#include "engine/simulate/motion.h"

namespace echolux {
namespace {

using std::numbers::pi;

Simulation moving() {
    Simulation s;
    s.scene = "mirror";
    s.samples = 256;
    s.a_scans = 1;
    s.b_scans = 1;
    s.motion_axial_um = 30;
    s.motion_lateral_um = 15;
    return s;
}

double rms(const std::function<double(double)>& of, double seconds, double step_s) {
    double sum = 0, square = 0, count = 0;
    for (double t = 0; t < seconds; t += step_s, ++count) {
        const double value = of(t);
        sum += value;
        square += value * value;
    }
    return std::sqrt(square / count - sum / count * (sum / count));
}

TEST(SimulatorMotion, EachPartHasRequestedSize) {
    for (const std::int64_t seed : {1, 2, 3}) {
        Simulation s = moving();
        s.motion_seed = seed;
        const Motion m(s, 100);
        EXPECT_NEAR(rms([&](double t) { return m.drift(t).z_um; }, 100, 0.01), 12, 0.05 * 12);
        EXPECT_NEAR(rms([&](double t) { return m.drift(t).x_um; }, 100, 0.01), 6, 0.05 * 6);
        EXPECT_NEAR(rms([&](double t) { return m.drift(t).y_um; }, 100, 0.01), 6, 0.05 * 6);
        EXPECT_NEAR(rms([&](double t) { return m.tremor(t).z_um; }, 100, 0.0037), 0.2, 0.05 * 0.2);
        EXPECT_NEAR(rms([&](double t) { return m.tremor(t).y_um; }, 100, 0.0037), 0.3, 0.05 * 0.3);
        const double of_heart = std::sqrt((1 + 0.4 * 0.4) / 2);  // two sines
        EXPECT_NEAR(rms([&](double t) { return m.heart(t).z_um; }, 100, 0.01), 9 * of_heart, 0.05 * 9 * of_heart);
        EXPECT_NEAR(rms([&](double t) { return m.heart(t).x_um; }, 100, 0.01), 1.5 * of_heart, 0.1 * of_heart);
    }
    const Motion m(moving(), 10);
    EXPECT_NEAR(m.heart(0.3).z_um, 9 * (std::sin(2 * pi * 1.2 * 0.3) + 0.4 * std::sin(4 * pi * 1.2 * 0.3 + 1)), 1e-12);
}

// Compares the temporal correlation with the integral over the spectrum of a filtered Ornstein-Uhlenbeck process.
TEST(SimulatorMotion, DriftIsLowPassedOrnsteinUhlenbeck) {
    const Motion m(moving(), 400);
    for (const double lag_s : {0.1, 0.25, 0.5, 1.0}) {
        double expected = 0, power = 0;
        for (double f = 0.0005; f < 40; f += 0.001) {
            const double density = 1 / (1 + std::pow(pi * f, 2)) / (1 + std::pow(f / 5, 4));  // tau = 0.5 s
            expected += density * std::cos(2 * pi * f * lag_s);
            power += density;
        }
        double product = 0, square = 0;
        for (double t = 0; t < 400; t += 0.02) {
            product += m.drift(t).z_um * m.drift(t + lag_s).z_um;
            square += m.drift(t).z_um * m.drift(t).z_um;
        }
        EXPECT_NEAR(product / square, expected / power, 0.04) << lag_s;
    }
}

TEST(SimulatorMotion, SaccadesArePoissonProcessOfLogisticSteps) {
    Simulation s = moving();
    s.motion_saccade_rate_hz = 0.5;
    const double seconds = 4000;
    const Motion m(s, seconds);
    double count = 0, lengths = 0, last_length = 0;
    bool rests = true;
    double left_x = 0, left_y = 0;
    const double step_s = 0.02;
    for (double t = 0; t < seconds; t += step_s) {  // a movement between two rests is one saccade, sometimes two
        const Displacement now = m.saccades(t), next = m.saccades(t + step_s);
        const bool still = std::hypot(next.x_um - now.x_um, next.y_um - now.y_um) < 1e-3;
        if (!still && rests) std::tie(left_x, left_y) = std::tuple(now.x_um, now.y_um);
        if (still && !rests) {
            ++count;
            last_length = std::hypot(now.x_um - left_x, now.y_um - left_y);
            lengths += last_length;
        }
        rests = still;
    }
    EXPECT_NEAR(count / seconds, 0.5, 0.05);  // some overlap others, some are too small to be seen
    EXPECT_NEAR(lengths / count, 30, 2);

    Simulation one = moving();
    one.motion_saccade_rate_hz = 0.01;
    const Motion rare(one, 200);
    const auto length = [&rare](double t) { return std::hypot(rare.saccades(t).x_um, rare.saccades(t).y_um); };
    double found = 0;
    while (found < 200 && length(found) < 5) found += 0.05;
    ASSERT_LT(found, 200) << "another seed has a saccade to look at";
    const double whole = length(found + 0.2);
    double begin = 0, end = 0;
    for (double t = found - 0.2; t < found + 0.2; t += 1e-4) {
        if (length(t) < 0.1 * whole) begin = t;
        if (length(t) < 0.9 * whole) end = t;
    }
    EXPECT_NEAR(end - begin, 0.022, 3e-4);
}

}  // namespace
}  // namespace echolux
