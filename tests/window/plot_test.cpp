// Positions of curves and ticks: narrow peaks are kept, nothing is drawn twice, and ticks are round numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ui/panels/plot.h"

namespace echolux {
namespace {

TEST(PlotCurve, KeepsMinAndMaxOfEachColumn) {
    std::vector<float> values(10'000, 1.0F);
    values[1234] = 9;  // one of a hundred samples in its column
    values[1267] = -5;
    const std::vector<PlotPoint> points = points_of({values}, {0, 10'000}, 100);
    EXPECT_LE(points.size(), 2 * 101U);
    double greatest = 0, least = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i > 0) {
            EXPECT_GT(points[i].column, points[i - 1].column);
        }
        if (points[i].value > greatest) greatest = points[i].value;
        if (points[i].value < least) least = points[i].value;
        if (points[i].value == 9) {
            EXPECT_NEAR(points[i].column, 12.34, 1e-9);
        }
    }
    EXPECT_EQ(greatest, 9);
    EXPECT_EQ(least, -5);
}

TEST(PlotCurve, IsExactWithEnoughRoom) {
    const std::vector<float> values{3, 1, 4, 1, 5, 9, 2, 6};
    const std::vector<PlotPoint> points = points_of({values, 10, 2}, {14, 20}, 300);
    ASSERT_EQ(points.size(), 5U);  // 14, 16, 18, 20 and one beyond
    EXPECT_EQ(points[0].value, 4);
    EXPECT_EQ(points[0].column, 0);
    EXPECT_EQ(points[1].column, 100);
    EXPECT_EQ(points[4].value, 2);
    EXPECT_GT(points[4].column, 300);
}

TEST(PlotCurve, OmitsNonFiniteValues) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> values{none, 2, none, 3, std::numeric_limits<float>::infinity()};
    EXPECT_EQ(points_of({values}, {0, 4}, 400).size(), 2U);
    EXPECT_TRUE(points_of({}, {0, 1}, 100).empty());
}

TEST(PlotBand, CoversBothCurvesInEachColumn) {
    std::vector<float> low(1000, 2.0F), high(1000, 3.0F);
    low[505] = 0;
    high[511] = 8;
    const std::vector<PlotSpan> spans = spans_between({low}, {high}, {0, 1000}, 10);
    ASSERT_GE(spans.size(), 10U);
    EXPECT_EQ(spans[5].low, 0);
    EXPECT_EQ(spans[5].high, 8);
    EXPECT_EQ(spans[4].low, 2);
    EXPECT_EQ(spans[4].high, 3);
}

TEST(PlotTicks, AreRoundAndInside) {
    EXPECT_EQ(ticks({0, 10}, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    EXPECT_EQ(ticks({-13, 9}, 5), (std::vector<double>{-10, -5, 0, 5}));
    EXPECT_TRUE(ticks({3, 3}, 5).empty());
    for (const double span : {1e-6, 0.37, 4.2, 911.0, 3e7}) {
        const auto count = ticks({-span / 3, span * 2 / 3}, 6).size();
        EXPECT_GE(count, 2U) << span;
        EXPECT_LE(count, 8U) << span;
    }
}

TEST(PlotTicks, UseCommonNotation) {
    EXPECT_EQ(tick_text(0, 0.5), "0.0");
    EXPECT_EQ(tick_text(-0.0001, 0.5), "0.0");
    EXPECT_EQ(tick_text(250, 50), "250");
    EXPECT_EQ(tick_text(0.02, 0.01), "0.02");
    EXPECT_EQ(tick_text(3e7, 1e7), "3e+07");
}

TEST(PlotRange, FitsAllCurvesWithRoundEnds) {
    const std::vector<float> a{-13.2F, 4}, b{27, std::numeric_limits<float>::quiet_NaN()};
    const PlotRange range = fitting_range({a, b});
    EXPECT_EQ(range.low, -20);
    EXPECT_EQ(range.high, 30);
    EXPECT_EQ(fitting_range({}).high, 1);
    const std::vector<float> flat(5, 7.0F);
    EXPECT_LT(fitting_range({flat}).low, fitting_range({flat}).high);
}

TEST(PlotZoom, KeepsPointUnderPointerAndStaysInside) {
    const PlotRange whole{0, 1000};
    const PlotRange closer = zoomed(whole, 0.5, 0.2, whole);
    EXPECT_EQ(closer.at(0.2), 200);
    EXPECT_EQ(closer.high - closer.low, 500);
    const PlotRange out = zoomed(closer, 10, 0.9, whole);
    EXPECT_EQ(out.low, 0);
    EXPECT_EQ(out.high, 1000);
    EXPECT_EQ(moved({100, 200}, -500, whole).low, 0);
    EXPECT_EQ(moved({100, 200}, 5000, whole).high, 1000);
    EXPECT_GE(zoomed(whole, 1e-9, 0.5, whole).high - zoomed(whole, 1e-9, 0.5, whole).low, 0.999);
}

}  // namespace
}  // namespace echolux
