// Boundaries hidden by vessels: a plane with a trough where a vessel crosses it; the true course is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compute/indexing.h"
#include "compute/reason.h"
#include "engine/layers/find_surfaces.h"

namespace echolux {
namespace {

constexpr std::int64_t a_scans = 80, b_scans = 60;
constexpr double vessel_um = 100;
constexpr std::array<double, 2> spacing_um{10, 10};

// Rows of a boundary according to the tissue around a vessel: inclined and bowed.
double course(std::int64_t a, std::int64_t b) {
    const double x = static_cast<double>(a) / a_scans - 0.5, y = static_cast<double>(b) / b_scans - 0.5;
    return 100 + 20 * x - 9 * y + 12 * x * x;
}

// `depth` is the number of rows to the far wall of a vessel that winds along the B-scans and is `width` A-scans wide.
Surface with_vessel(double depth, double width, double noise_rows = 0) {
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0, 1);
    Surface surface{"NFL", {}, {}, {}};
    for (std::int64_t b = 0; b < b_scans; ++b) {
        for (std::int64_t a = 0; a < a_scans; ++a) {
            const double middle = 40 + 8 * std::sin(static_cast<double>(b) / 12);
            const double across = 2 * (static_cast<double>(a) - middle) / width;
            const double wall = depth * std::sqrt(std::max(0.0, 1 - across * across));
            surface.rows.push_back(static_cast<float>(course(a, b) + wall + noise_rows * noise(random)));
        }
    }
    surface.quality.resize(surface.rows.size());
    surface.reasons.resize(surface.rows.size(), Reason::ok);
    return surface;
}

double largest_error(const Surface& surface) {
    double most = 0;
    for (std::int64_t b = 0; b < b_scans; ++b) {
        for (std::int64_t a = 0; a < a_scans; ++a) {
            const auto row = static_cast<double>(surface.rows[index(b * a_scans + a)]);
            most = std::max(most, std::abs(row - course(a, b)));
        }
    }
    return most;
}

void bridge(Surface& surface, int polarity = -1, double width_um = vessel_um,
            const std::array<double, 2>& spacing = spacing_um) {
    bridge_vessels(surface, a_scans, b_scans, polarity, width_um, spacing);
}

TEST(VesselBridges, FollowSurroundingTissue) {
    Surface surface = with_vessel(15, 6);
    ASSERT_GT(largest_error(surface), 14);
    bridge(surface);
    EXPECT_LT(largest_error(surface), 1);
    std::int64_t marked = 0;
    for (std::int64_t b = 0; b < b_scans; ++b) {
        for (std::int64_t a = 0; a < a_scans; ++a) {
            const bool is_marked = surface.reasons[index(b * a_scans + a)] == Reason::ambiguous;
            marked += is_marked ? 1 : 0;
            if (a < 28 || a > 52) {
                EXPECT_FALSE(is_marked) << a << " " << b;
            }
        }
    }
    EXPECT_GT(marked, 4 * b_scans);
    EXPECT_LT(marked, 7 * b_scans);
}

TEST(VesselBridges, WithstandNoise) {
    Surface surface = with_vessel(15, 6, 0.7);
    bridge(surface);
    EXPECT_LT(largest_error(surface), 4.5);  // 6 sigma of the unchanged part
    Surface alone = with_vessel(0, 6, 0.7);
    const std::vector<float> before = alone.rows;
    bridge(alone);
    std::int64_t moved = 0;
    for (std::size_t i = 0; i < before.size(); ++i) moved += alone.rows[i] == before[i] ? 0 : 1;
    EXPECT_LT(moved, a_scans * b_scans / 1000) << "without a vessel";
}

// Vessels are brighter than the tissue below such a boundary, so they never shift it to the other side.
TEST(VesselBridges, MoveOnlyTowardsBrighterSide) {
    for (const int polarity : {-1, 0, 1}) {
        for (const double depth : {15.0, -15.0}) {
            Surface surface = with_vessel(depth, 6);
            bridge(surface, polarity);
            if (polarity * depth <= 0) {
                EXPECT_LT(largest_error(surface), 1) << polarity << " " << depth;
            } else {
                EXPECT_GT(largest_error(surface), 14) << polarity << " " << depth;
            }
        }
    }
}

TEST(VesselBridges, KeepWideGaps) {
    const Surface before = with_vessel(15, 6);
    Surface surface = before;
    bridge(surface, -1, 0);
    EXPECT_EQ(surface.rows, before.rows) << "none were asked for";
    bridge(surface, -1, vessel_um, {0, 10});
    bridge(surface, -1, vessel_um, {10, 0});
    EXPECT_EQ(surface.rows, before.rows) << "how wide it is is unknown";
    Surface wide = with_vessel(15, 60);
    bridge(wide, -1, vessel_um);
    EXPECT_GT(largest_error(wide), 12) << "a hollow of the tissue, six times as wide";
}

// B-scans further apart than the width of vessels are processed one by one, like a single B-scan.
TEST(VesselBridges, HandleDistantBScansSeparately) {
    Surface surface = with_vessel(15, 6);
    bridge(surface, -1, vessel_um, {10, 200});
    EXPECT_LT(largest_error(surface), 1.5) << "walls less than a row off stay";
}

TEST(VesselBridges, KeepMissingSurfacesMissing) {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    Surface surface = with_vessel(15, 6);
    for (std::int64_t i = 0; i < 20 * a_scans; ++i) {
        surface.rows[index(i)] = none;
        surface.reasons[index(i)] = Reason::no_signal;
    }
    bridge(surface);
    for (std::int64_t i = 0; i < 20 * a_scans; ++i) {
        EXPECT_TRUE(std::isnan(surface.rows[index(i)]));
        EXPECT_EQ(surface.reasons[index(i)], Reason::no_signal);
    }
    EXPECT_LT(largest_error(surface), 2);
    Surface empty{"", std::vector<float>(surface.rows.size(), none), surface.quality, surface.reasons};
    bridge(empty);
    EXPECT_THAT(empty.rows, testing::Each(testing::IsNan()));
}

}  // namespace
}  // namespace echolux
