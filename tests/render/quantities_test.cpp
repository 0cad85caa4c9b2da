// Formatting of lengths, ticks, distances and angles in annotations.
#include <gtest/gtest.h>

#include <cmath>

#include "render/annotations/annotations.h"

namespace echolux::test {
namespace {

TEST(Quantities, RoundLengthsUseOneTwoFive) {
    EXPECT_DOUBLE_EQ(round_below(1), 1);
    EXPECT_DOUBLE_EQ(round_below(1.99), 1);
    EXPECT_DOUBLE_EQ(round_below(2), 2);
    EXPECT_DOUBLE_EQ(round_below(499), 200);
    EXPECT_DOUBLE_EQ(round_below(0.07), 0.05);
    EXPECT_DOUBLE_EQ(round_below(1000), 1000);
}

TEST(Quantities, LengthsAreWrittenInTheirUnit) {
    EXPECT_EQ(length_text(0.05, true), "50 nm");
    EXPECT_EQ(length_text(0.5, true), "500 nm");
    EXPECT_EQ(length_text(1, true), "1 µm");
    EXPECT_EQ(length_text(200, true), "200 µm");
    EXPECT_EQ(length_text(1234.5, true), "1.234 mm");
    EXPECT_EQ(length_text(20000, true), "2 cm");
    EXPECT_EQ(length_text(0, true), "0 µm");
    EXPECT_EQ(length_text(20000, false), "20000 voxels");
}

TEST(Quantities, TicksAreRoundAndInside) {
    const auto values = [](double low, double high, int most) {
        std::vector<std::string> texts;
        for (const Tick& tick : ticks_between(low, high, most)) texts.push_back(tick.text);
        return texts;
    };
    EXPECT_EQ(values(3, 40, 6), (std::vector<std::string>{"10", "20", "30", "40"}));
    EXPECT_EQ(values(-0.25, 0.25, 5), (std::vector<std::string>{"-0.2", "-0.1", "0.0", "0.1", "0.2"}));
    EXPECT_EQ(values(0, 1, 11).size(), 11u);
    for (int most = 1; most < 30; ++most) {
        for (const double high : {0.013, 1.0, 7.7, 64000.0}) {
            EXPECT_LE(static_cast<int>(ticks_between(-0.3 * high, high, most).size()), most);
        }
    }
}

TEST(Quantities, DistancesAndAngles) {
    EXPECT_DOUBLE_EQ(distance_um({1, 2, 3}, {3, 5, 9}), 7);
    EXPECT_NEAR(angle_deg({1, 0, 0}, {0, 0, 0}, {0, 2, 0}), 90, 1e-12);
    EXPECT_NEAR(angle_deg({4, 1, 1}, {1, 1, 1}, {2, 2, 1}), 45, 1e-12);
    EXPECT_NEAR(angle_deg({1, 0, 0}, {0, 0, 0}, {-3, 0, 0}), 180, 1e-12);
    EXPECT_NEAR(angle_deg({1, 0, 0}, {0, 0, 0}, {1, 1e-7, 0}), std::atan(1e-7) * 180 / std::acos(-1.0), 1e-16);
    EXPECT_EQ(angle_deg({1, 1, 1}, {1, 1, 1}, {2, 2, 1}), 0);
}

}  // namespace
}  // namespace echolux::test
