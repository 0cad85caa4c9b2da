// Waveforms for galvanometers: limits at every sample by finite differences, positions at the lines against
// ScanPattern, and the duration of returns against closed forms of the shortest moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compute/error.h"
#include "engine/scan/waveforms.h"
#include "tests/support/error_of.h"

namespace echolux {
namespace {

ScanGeometry geometry(Protocol protocol, std::int64_t b_scans) {
    return {.a_scans = 200,
            .b_scans = b_scans,
            .spacing_a_um = 20,
            .spacing_b_um = 50,
            .line_rate_hz = 100'000,
            .protocol = protocol};
}

// Largest magnitude of the n-th difference quotient of a periodic waveform.
double largest_derivative(std::vector<double> values, double rate_hz, int order) {
    for (; order > 0; --order) {
        std::vector<double> next;
        for (std::size_t i = 0; i < values.size(); ++i)
            next.push_back((values[(i + 1) % values.size()] - values[i]) * rate_hz);
        values = next;
    }
    const auto [low, high] = std::ranges::minmax(values);
    return std::max(-low, high);
}

struct Case {
    std::string name;
    ScanGeometry geometry;
    std::int64_t samples_per_line = 1;
};

std::vector<Case> cases() {
    std::vector<Case> all{{"raster", geometry(Protocol::raster, 8)},
                          {"raster, 5 samples per line", geometry(Protocol::raster, 8), 5},
                          {"raster_y", geometry(Protocol::raster_y, 8)},
                          {"cross", geometry(Protocol::cross, 2)},
                          {"four slices", geometry(Protocol::four_slices, 4)},
                          {"crosses before a raster", geometry(Protocol::raster_cross, 8)},
                          {"bidirectional", geometry(Protocol::raster, 9)},
                          {"repeats", geometry(Protocol::raster, 4)},
                          {"sine", geometry(Protocol::raster, 6)},
                          {"one B-scan", geometry(Protocol::raster, 1)}};
    all[6].geometry.bidirectional = true;
    all[7].geometry.a_repeats = 3;
    all[7].geometry.b_repeats = 2;
    all[8].geometry.fast_axis = FastAxis::sinusoidal;
    all[8].geometry.bidirectional = true;
    return all;
}

TEST(Waveforms, KeepLimitsAtEverySample) {
    for (const Case& one : cases()) {
        SCOPED_TRACE(one.name);
        const Galvo galvo{.samples_per_line = one.samples_per_line};
        const Waveforms w = galvo_waveforms(one.geometry, galvo);
        const double limits[] = {galvo.max_velocity_mm_s, galvo.max_acceleration_mm_s2, galvo.max_jerk_mm_s3};
        for (int order = 1; order <= 3; ++order) {
            // A step of rounding in the third difference: 1e-15 of 10 V times the cubed rate.
            const double limit = limits[order - 1] * 1.001 + 1e-14 * std::pow(w.sample_rate_hz, order);
            EXPECT_LE(largest_derivative(w.x_volts, w.sample_rate_hz, order), limit) << "x, derivative " << order;
            EXPECT_LE(largest_derivative(w.y_volts, w.sample_rate_hz, order), limit) << "y, derivative " << order;
        }
    }
}

TEST(Waveforms, PassPositionsOfPatternAtLineCentres) {
    for (const Case& one : cases()) {
        if (one.samples_per_line != 1 || one.geometry.a_repeats > 1) continue;
        SCOPED_TRACE(one.name);
        const Waveforms w = galvo_waveforms(one.geometry, {.x_volts_per_mm = 2, .y_volts_per_mm = -0.5});
        ScanGeometry as_recorded = one.geometry;
        as_recorded.flyback_lines = w.flyback_lines;
        as_recorded.flyback_frames = w.flyback_frames;
        const std::vector<PatternLine> lines = scan_pattern(as_recorded, field_size(as_recorded));
        ASSERT_EQ(lines.size(), w.x_volts.size());
        for (std::size_t i = 0; i < lines.size(); ++i) {
            EXPECT_EQ(w.is_line[i] == 0, lines[i].is_flyback) << i;
            if (lines[i].is_flyback) continue;
            EXPECT_NEAR(w.x_volts[i], 2 * lines[i].beam.x_um / 1000, 1e-9) << i;
            EXPECT_NEAR(w.y_volts[i], -0.5 * lines[i].beam.y_um / 1000, 1e-9) << i;
        }
    }
}

double shortest_move(const AxisState& from, const AxisState& to, const AxisLimits& limits) {
    double low = 0, high = 100;
    for (int i = 0; i < 80; ++i) {
        const double middle = (low + high) / 2;
        (axis_move(from, to, limits, middle).empty() ? low : high) = middle;
    }
    return high;
}

// Closed forms for a move from rest to rest of distance d, depending on which limits are reached.
TEST(Waveforms, MovesFromRestToRestTakeShortestTime) {
    const AxisLimits limits{2, 3, 5};
    EXPECT_NEAR(shortest_move({}, {.position = 0.1}, limits), 4 * std::cbrt(0.1 / (2 * 5)), 1e-6);
    EXPECT_NEAR(shortest_move({}, {.position = -2.3}, limits), 3.0 / 5 + std::sqrt(9.0 / 25 + 4 * 2.3 / 3), 1e-6);
    EXPECT_NEAR(shortest_move({}, {.position = 20}, limits), 20.0 / 2 + 2.0 / 3 + 3.0 / 5, 1e-6);
}

// Without a limit of the jerk the shortest return is a full acceleration back, then forth: with velocity v at both ends
// and distance -d the peak is -sqrt(v^2 + a d).
TEST(Waveforms, ReturnsTakeAtMostFivePercentMoreThanBangBang) {
    const ScanGeometry g = geometry(Protocol::raster, 8);
    const Galvo galvo{.max_velocity_mm_s = 1e9, .max_jerk_mm_s3 = 1e16};
    const double a = galvo.max_acceleration_mm_s2, line_s = 1 / g.line_rate_hz;
    const double v = 0.02 / line_s, d = 200 * 0.02;  // from half a line beyond the last centre
    const double bound = 2 * (v + std::sqrt(v * v + a * d)) / a;
    const Waveforms w = galvo_waveforms(g, galvo);
    EXPECT_GE(w.longest_return_s, bound * 0.999);
    EXPECT_LE(w.longest_return_s, bound * 1.05);
    EXPECT_LE(static_cast<double>(w.flyback_lines) * line_s, bound * 1.05 + line_s);
}

TEST(Waveforms, MovesReachEndStateExactly) {
    const AxisLimits limits{2, 3, 5};
    const AxisState from{0.3, 0.7, -1.2}, to{-0.4, 0.9, 2.1};
    for (const double longer : {1.0001, 1.3, 4.0}) {
        const double duration = shortest_move(from, to, limits) * longer;
        const std::vector<JerkPiece> pieces = axis_move(from, to, limits, duration);
        ASSERT_FALSE(pieces.empty()) << longer;
        const AxisState reached = state_at(from, pieces, duration);
        EXPECT_NEAR(reached.position, to.position, 1e-9);
        EXPECT_NEAR(reached.velocity, to.velocity, 1e-9);
        EXPECT_NEAR(reached.acceleration, to.acceleration, 1e-9);
    }
}

std::string where_of_refusal(const ScanGeometry& g, const Galvo& galvo) {
    return error_of([&] { galvo_waveforms(g, galvo); }).where;
}

TEST(Waveforms, RefusePatternsBeyondLimits) {
    ScanGeometry g = geometry(Protocol::raster, 8);
    g.line_rate_hz = 0;
    EXPECT_EQ(where_of_refusal(g, {}), "scan.line_rate_hz");
    g.line_rate_hz = 1e7;
    EXPECT_EQ(where_of_refusal(g, {}), "scan.line_rate_hz");
    g = geometry(Protocol::raster, 8);
    EXPECT_EQ(where_of_refusal(g, {.max_volts = 1}), "galvo.max_volts");
    g.flyback_lines = 1;
    EXPECT_EQ(where_of_refusal(g, {}), "scan.flyback_lines");
    g.flyback_lines = 5000;
    EXPECT_EQ(where_of_refusal(g, {}), "");
}

}  // namespace
}  // namespace echolux
