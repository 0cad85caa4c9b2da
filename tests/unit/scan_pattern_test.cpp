// Beam positions of every protocol, compared with coordinates worked out by hand, and the flyback.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "compute/error.h"
#include "engine/scan/scan_pattern.h"

namespace echolux {
namespace {

void expect_at(const FieldPoint& point, double x_um, double y_um) {
    EXPECT_NEAR(point.x_um, x_um, 1e-9);
    EXPECT_NEAR(point.y_um, y_um, 1e-9);
}

TEST(ScanPattern, RasterIsCentredAndInOrder) {
    const ScanGeometry g{.a_scans = 4, .b_scans = 3, .spacing_a_um = 10, .spacing_b_um = 20};
    const std::vector<PatternLine> lines = scan_pattern(g, field_size(g));
    ASSERT_EQ(lines.size(), 12U);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const double a = static_cast<double>(i % 4);
        const double b = static_cast<double>(i / 4);
        expect_at(lines[i].beam, 10 * (a - 1.5), 20 * (b - 1));
        EXPECT_EQ(lines[i].frame, static_cast<std::int64_t>(i / 4));
        EXPECT_EQ(lines[i].line, static_cast<std::int64_t>(i % 4));
        EXPECT_FALSE(lines[i].is_flyback);
    }
}

TEST(ScanPattern, KeepsPositionDuringRepeats) {
    const ScanGeometry g{
        .a_scans = 2, .b_scans = 2, .a_repeats = 3, .b_repeats = 2, .spacing_a_um = 4, .spacing_b_um = 6};
    const std::vector<PatternLine> lines = scan_pattern(g, field_size(g));
    ASSERT_EQ(lines.size(), 24U);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        expect_at(lines[i].beam, i % 6 < 3 ? -2 : 2, i < 12 ? -3 : 3);
        EXPECT_EQ(lines[i].frame, static_cast<std::int64_t>(i / 6));
    }
}

TEST(ScanPattern, EverySecondAcquiredBScanRunsBackwards) {
    const ScanGeometry g{
        .a_scans = 3, .b_scans = 3, .b_repeats = 1, .spacing_a_um = 1, .spacing_b_um = 1, .bidirectional = true};
    const std::vector<PatternLine> lines = scan_pattern(g, field_size(g));
    const double x_um[] = {-1, 0, 1, 1, 0, -1, -1, 0, 1};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        expect_at(lines[i].beam, x_um[i], static_cast<double>(i / 3) - 1);
    }
}

TEST(ScanPattern, SineSlowsDownAtBothEnds) {
    const ScanGeometry g{
        .a_scans = 5, .b_scans = 1, .spacing_a_um = 10, .fast_axis = FastAxis::sinusoidal, .sinusoidal_part = 1};
    const std::vector<PatternLine> lines = scan_pattern(g, field_size(g));
    for (std::size_t i = 0; i < 5; ++i) {
        expect_at(lines[i].beam, 20 * std::sin(std::numbers::pi / 2 * (static_cast<double>(i) / 2 - 1)), 0);
    }
}

TEST(ScanPattern, CurveAcceptsAnyUnit) {
    const ScanGeometry g{.a_scans = 3, .b_scans = 1, .spacing_a_um = 10, .fast_axis = FastAxis::file};
    const std::vector<double> volts{5, 4, 1};
    const std::vector<PatternLine> lines = scan_pattern(g, field_size(g), volts);
    expect_at(lines[0].beam, -10, 0);
    expect_at(lines[1].beam, -5, 0);
    expect_at(lines[2].beam, 10, 0);
    EXPECT_THROW(scan_pattern(g, field_size(g)), Error);
    EXPECT_THROW(scan_pattern(g, field_size(g), std::vector<double>{1, 2, 1}), Error);
}

TEST(ScanPattern, RasterFollowsBScansAcross) {
    ScanGeometry g{
        .a_scans = 4, .b_scans = 5, .spacing_a_um = 10, .spacing_b_um = 20, .protocol = Protocol::raster_cross};
    const std::vector<ScanPlane> planes = scan_planes(g);
    ASSERT_EQ(planes.size(), 5U);  // 40 x 60 um
    expect_at(planes[0].first, -10, -22.5);
    expect_at(planes[0].last, -10, 22.5);
    expect_at(planes[1].first, 10, -22.5);
    expect_at(planes[2].first, -15, -20);
    expect_at(planes[4].last, 15, 20);
    g.crosses = 5;
    EXPECT_THROW(scan_planes(g), Error);
}

TEST(ScanPattern, RasterYCoversFieldOfRasterX) {
    const ScanGeometry g{
        .a_scans = 4, .b_scans = 3, .spacing_a_um = 10, .spacing_b_um = 20, .protocol = Protocol::raster_y};
    const std::vector<ScanPlane> planes = scan_planes(g);
    ASSERT_EQ(planes.size(), 3U);
    for (const std::size_t b : {0U, 1U, 2U}) {
        expect_at(planes[b].first, 20 * (static_cast<double>(b) - 1), -15);
        expect_at(planes[b].last, 20 * (static_cast<double>(b) - 1), 15);
    }
}

TEST(ScanPattern, CrossAndFourSlices) {
    ScanGeometry g{.a_scans = 3, .b_scans = 2, .spacing_a_um = 10, .protocol = Protocol::cross};
    std::vector<ScanPlane> planes = scan_planes(g);
    ASSERT_EQ(planes.size(), 2U);
    expect_at(planes[0].first, -10, 0);
    expect_at(planes[0].last, 10, 0);
    expect_at(planes[1].first, 0, -10);
    expect_at(planes[1].last, 0, 10);
    expect_at(scan_pattern(g, field_size(g))[5].beam, 0, 10);

    g.protocol = Protocol::four_slices;
    EXPECT_EQ(scan_planes(g).size(), 2U);  // as after a truncated recording
    g.b_scans = 5;
    EXPECT_THROW(scan_planes(g), Error);
    g.b_scans = 4;
    g.spacing_b_um = 7;
    planes = scan_planes(g);
    ASSERT_EQ(planes.size(), 4U);
    for (std::size_t i = 0; i < 3; ++i) expect_at(planes[i].first, -10, 7 * (static_cast<double>(i) - 1));
    expect_at(planes[3].first, 0, -10);
    g.spacing_b_um = 0;
    expect_at(scan_planes(g)[0].first, -10, -7.5);  // a quarter of the field
}

// Flyback is smooth: steps change gradually, and the path ends where the next B-scan or volume begins.
TEST(ScanPattern, MovesSmoothlyDuringFlyback) {
    const ScanGeometry g{
        .a_scans = 10, .b_scans = 3, .spacing_a_um = 1, .spacing_b_um = 2, .flyback_lines = 6, .flyback_frames = 2};
    const std::vector<PatternLine> lines = scan_pattern(g, field_size(g));
    ASSERT_EQ(lines.size(), 5U * 16);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::size_t frame = i / 16;
        EXPECT_EQ(lines[i].frame, static_cast<std::int64_t>(frame));
        EXPECT_EQ(lines[i].is_flyback, frame >= 3 || i % 16 >= 10);
    }
    for (std::size_t i = 0; i < 6; ++i) {
        const double part = (1 - std::cos(std::numbers::pi * static_cast<double>(i + 1) / 7)) / 2;
        expect_at(lines[10 + i].beam, 4.5 - 9 * part, -2 + 2 * part);
    }
    const std::size_t back = 2 * 16 + 10;  // 38 lines from the end of the volume to its beginning
    for (std::size_t i = back; i < lines.size(); ++i) {
        const double part = (1 - std::cos(std::numbers::pi * static_cast<double>(i - back + 1) / 39)) / 2;
        expect_at(lines[i].beam, 4.5 - 9 * part, 2 - 4 * part);
    }
}

TEST(ScanPattern, UnknownSpacingsGiveFieldOfOneMillimetre) {
    const ScanGeometry g{.a_scans = 100, .b_scans = 50};
    EXPECT_EQ(field_size(g).x_um, 1000);
    EXPECT_EQ(field_size(g).y_um, 1000);
    expect_at(scan_planes(g)[0].first, -495, -490);
}

}  // namespace
}  // namespace echolux
