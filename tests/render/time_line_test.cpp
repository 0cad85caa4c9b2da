// Editing key frames: the result of each edit, their text form, and the effect of eases.
#include "app/settings/key_frame_file.h"

#include <gtest/gtest.h>

#include "compute/error.h"

namespace echolux {
namespace {

double zoom_at(const TimeLine& line, double time_s) {
    return line.at(View{}, time_s).zoom;
}

TimeLine two_zooms() {
    TimeLine line;
    line.set(0, "zoom", 1.0);
    line.set(4, "zoom", 3.0);
    return line;
}

TEST(TimeLines, StoreCameraAndChangedSettings) {
    TimeLine line;
    View view;
    view.look = Look::top;
    line.take(1, view);
    ASSERT_EQ(line.keys().size(), 1U);
    EXPECT_EQ(std::get<double>(line.keys()[0].values.at("elevation_deg")), 90);
    EXPECT_FALSE(line.keys()[0].values.contains("look"));
    EXPECT_FALSE(line.keys()[0].values.contains("opacity"));
    view.opacity = 5;
    view.width = 77;
    line.take(3, view);
    ASSERT_EQ(line.keys().size(), 2U);
    EXPECT_EQ(std::get<double>(line.keys()[0].values.at("opacity")), 1);  // the value before the change
    EXPECT_EQ(std::get<double>(line.keys()[1].values.at("opacity")), 5);
    EXPECT_FALSE(line.keys()[1].values.contains("width"));
    EXPECT_NEAR(line.at(View{}, 2).opacity, 3, 1e-12);
    EXPECT_EQ(line.names().size(), 7U);
}

TEST(TimeLines, RoundTripThroughText) {
    TimeLine line = two_zooms();
    line.set(2.5, "text", std::string("a \"b\"\nc"));
    line.set(2.5, "box", false);
    line.set(2.5, "target_um", std::vector<double>{1, -2.25, 1e-7});
    line.set(2.5, "samples", std::int64_t{9});
    line.ease(4, Ease::hold);
    const TimeLine again(line.toml());
    EXPECT_EQ(again.toml(), line.toml());
    ASSERT_EQ(again.keys().size(), 3U);
    EXPECT_EQ(again.keys()[1].values, line.keys()[1].values);
    EXPECT_EQ(again.keys()[2].ease, Ease::hold);
    EXPECT_TRUE(TimeLine(" \n").is_empty());
}

TEST(TimeLines, KeysAreMovedCopiedAndErased) {
    TimeLine line = two_zooms();
    line.set(4, "opacity", 2.0);
    line.move(4, 2, "zoom");
    EXPECT_EQ(line.keys().size(), 3U);
    EXPECT_EQ(zoom_at(line, 2), 3);
    line.move(2, 0);  // replaces the key there
    EXPECT_EQ(zoom_at(line, 0), 3);
    EXPECT_EQ(line.keys().size(), 2U);
    line.copy(0, 6, "zoom");
    EXPECT_EQ(line.last_s(), 6);
    line.erase(6);
    EXPECT_EQ(line.last_s(), 4);
    line.erase(4, "opacity");
    EXPECT_EQ(line.keys().size(), 1U);
    line.move(17, 3);
    line.move(0, -5);
    EXPECT_EQ(line.keys().front().time_s, 0);
}

TEST(TimeLines, EasesFollowTheirCurves) {
    TimeLine line = two_zooms();
    line.set(8, "zoom", 4.0);
    EXPECT_NEAR(zoom_at(line, 2), 1 + 2 * 0.5 + 0, 0.5);
    line.ease(0, Ease::linear);
    for (const double time : {0.5, 1.0, 3.25}) EXPECT_NEAR(zoom_at(line, time), 1 + 0.5 * time, 1e-12);
    line.ease(0, Ease::hold);
    EXPECT_EQ(zoom_at(line, 3.999), 1);
    EXPECT_EQ(zoom_at(line, 4), 3);
    line.ease(0, Ease::smooth);
    constexpr double h = 1e-4;
    EXPECT_GT((zoom_at(line, 4 + h) - zoom_at(line, 4 - h)) / (2 * h), 0.1);
    line.ease(4, Ease::rest);
    EXPECT_NEAR((zoom_at(line, 4 + h) - zoom_at(line, 4 - h)) / (2 * h), 0, 1e-3);
}

TEST(TimeLines, RejectInvalidKeys) {
    EXPECT_THROW(TimeLine("[[key]]\nzoom = 2\n"), Error);
    EXPECT_THROW(TimeLine("[[key]]\ntime_s = 1\nzoom = 2\nease = \"fast\"\n"), Error);
    EXPECT_THROW(TimeLine("[[key]]\ntime_s = 1\n[[key]]\ntime_s = 1\n"), Error);
    EXPECT_THROW(TimeLine("[[key]]\ntime_s = 1\nzooom = 2\n"), Error);
    EXPECT_THROW(TimeLine("nonsense"), Error);
}

}  // namespace
}  // namespace echolux
