// Boundaries hidden by vessels: a plane with a trough where a vessel crosses it; the true course is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compute/indexing.h"
#include "compute/reason.h"
#include "engine/flow/cross_section.h"
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

// ---- rings of a lumen, by a search over every edge of its rim -------------------------------------------------------

std::vector<std::int32_t> plain_rings(const LumenMask& lumen, const LumenMask& counted, double dx, double dy,
                                      double step_um) {
    std::vector<std::int32_t> rings(lumen.inside.size(), no_ring);
    for (std::int64_t j = 0; j < lumen.height; ++j) {
        for (std::int64_t i = 0; i < lumen.width; ++i) {
            if (!counted.at(i, j)) continue;
            double square = 1e300;
            int side = 0;
            const auto ask = [&](double x, double y, int of) {
                const double across = x - static_cast<double>(i) * dx, up = y - static_cast<double>(j) * dy;
                if (across * across + up * up >= square) return;
                square = across * across + up * up;
                side = of;
            };
            for (std::int64_t v = 0; v < lumen.height; ++v) {
                for (std::int64_t u = 0; u < lumen.width; ++u) {
                    if (!lumen.at(u, v)) continue;
                    const auto x = static_cast<double>(u), y = static_cast<double>(v);
                    if (!lumen.at(u - 1, v)) ask((x - 0.5) * dx, y * dy, 0);
                    if (!lumen.at(u + 1, v)) ask((x + 0.5) * dx, y * dy, 0);
                    if (!lumen.at(u, v - 1)) ask(x * dx, (y - 0.5) * dy, 1);
                    if (!lumen.at(u, v + 1)) ask(x * dx, (y + 0.5) * dy, 1);
                }
            }
            const double um = lumen.at(i, j) ? std::sqrt(square) : -std::sqrt(square);
            rings[index(j * lumen.width + i)] = 2 * static_cast<std::int32_t>(std::lround(um / step_um)) + side;
        }
    }
    return rings;
}

TEST(VesselRings, UseNearestSideOfRim) {
    std::mt19937 random(4);
    for (const double dy : {2.0, 4.0, 1.3}) {
        VolumeGrid grid{.depth = 41, .a_scans = 57, .b_scans = 4, .spacing_um = {dy, 4, 4}};
        const GridPlanes planes(grid, 2);
        LumenMask lumen{planes.width(), planes.height(), {}}, counted = lumen;
        for (std::int64_t j = 0; j < lumen.height; ++j) {
            for (std::int64_t i = 0; i < lumen.width; ++i) {
                const double r = std::hypot(static_cast<double>(i - 26) * 4, static_cast<double>(j - 20) * dy);
                const bool is_hole = random() % 40 == 0;
                lumen.inside.push_back(r < 24 && !is_hole ? 1 : 0);
                counted.inside.push_back(r < 32 ? 1 : 0);
            }
        }
        const double dx = planes.spacing(planes.in[0]), down = planes.spacing(planes.in[1]);
        EXPECT_EQ(rings_of(lumen, counted, planes, 2), plain_rings(lumen, counted, dx, down, 2)) << dy;
    }
}

}  // namespace
}  // namespace echolux
