// Dragging lights around the volume, and key frames on the time line, in a window.
#include <cmath>

#include "app/settings/key_frame_file.h"
#include "compute/plan/describe.h"
#include "render/area_lights.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class StudioWindow : public WindowRun {
  protected:
    void open_ball() {
        open_window();
        work().open(write_ball("ball.nrrd"));
        ASSERT_TRUE(settle());
    }

    // Radius of the sphere on which the handles are placed.
    double radius() {
        const Region place = part(PaneKind::volume);
        return 0.42 * static_cast<double>(std::min(place.width, place.height));
    }

    TimeLine line() { return TimeLine(work().settings().window().key_frames); }
};

TEST_F(StudioWindow, LampIsDragged) {
    open_ball();
    work().change("view.lamp", std::string("free"));
    ASSERT_TRUE(settle());
    const View before = work().view();
    const Pixel at = middle_of("light[0]");
    drag(at, {at.x + 50, at.y + 30});
    ASSERT_TRUE(settle());
    const double azimuth = before.lamp_azimuth_deg * 3.14159265358979 / 180,
                 elevation = before.lamp_elevation_deg * 3.14159265358979 / 180;
    const double x = std::cos(elevation) * std::sin(azimuth) + 50 / radius(), y = std::sin(elevation) - 30 / radius();
    EXPECT_NEAR(work().view().lamp_elevation_deg, std::asin(y) * 180 / 3.14159265358979, 1.5);
    EXPECT_NEAR(work().view().lamp_azimuth_deg, std::atan2(x, std::sqrt(1 - x * x - y * y)) * 180 / 3.14159265358979,
                1.5);
    EXPECT_EQ(work().view().azimuth_deg, before.azimuth_deg);
    work().undo();
    EXPECT_EQ(work().view().lamp_azimuth_deg, before.lamp_azimuth_deg);
    work().change("window.light_handles", false);
    turns(3);
    drag(at, {at.x + 50, at.y + 30});
    EXPECT_EQ(work().view().lamp_azimuth_deg, before.lamp_azimuth_deg);
    EXPECT_NE(work().view().azimuth_deg, before.azimuth_deg);
}

// Dragging a light of a preset turns the preset into custom lights. Only the dragged light differs.
TEST_F(StudioWindow, LightsOfPresetAreDragged) {
    open_ball();
    for (const auto& [key, value] : std::map<std::string, Value>{{"view.paths", std::int64_t{2}},
                                                                 {"view.mode", std::string("traced")},
                                                                 {"view.lights", std::string("three-point")}}) {
        ASSERT_TRUE(work().change(key, value));
    }
    ASSERT_TRUE(settle());
    const std::vector<double> preset = numbers_of(area_lights(work().view()));
    const Pixel at = middle_of("light[1]");
    drag(at, {at.x + 20, at.y - 40});
    EXPECT_EQ(work().view().lights, Lights::own);
    const std::vector<double> moved = work().view().area_lights;
    ASSERT_EQ(moved.size(), preset.size());
    for (std::size_t i = 0; i < moved.size(); ++i) {
        if (i == 8 || i == 9)
            EXPECT_NE(moved[i], preset[i]) << i;
        else
            EXPECT_EQ(moved[i], preset[i]) << i;
    }
    work().undo();
    EXPECT_EQ(work().view().lights, Lights::three_point);
}

TEST_F(StudioWindow, KeysAreSetDraggedAndPlayed) {
    open_ball();
    ASSERT_TRUE(work().change("window.time_line", true));
    work().change("view.zoom", 1.0);
    ASSERT_TRUE(settle());
    click(middle_of("keys.add"));
    ASSERT_EQ(line().keys().size(), 1U);
    click(middle_of("keys.ruler"));  // 2.5 of 5 s
    work().change("view.zoom", 3.0);
    work().change("view.opacity", 2.0);
    turns(3);
    click(middle_of("keys.add"));
    ASSERT_EQ(line().keys().size(), 2U);
    const double second = line().keys()[1].time_s;
    EXPECT_NEAR(second, 2.5, 0.2);
    EXPECT_EQ(std::get<double>(line().keys()[0].values.at("opacity")), 1);
    turns(3);
    const Pixel zoom = middle_of("keys.row.zoom");
    drag({zoom.x, zoom.y}, {zoom.x + 40, zoom.y});  // the mark of its key is there
    ASSERT_EQ(line().keys().size(), 3U);
    EXPECT_GT(line().keys()[2].time_s, second);
    EXPECT_EQ(line().keys()[2].values.size(), 1U);
    work().undo();
    EXPECT_EQ(line().keys().size(), 2U);
    turns(3);
    click(middle_of("keys.play"));
    const double before = work().view().zoom;
    EXPECT_TRUE(turn_until([&] { return std::abs(work().view().zoom - before) > 0.05; }, 200));
    click(middle_of("keys.play"));
    turns(3);
    const double stopped = work().view().zoom;
    turns(5);
    EXPECT_EQ(work().view().zoom, stopped);
    click(middle_of("keys.row.zoom"));  // now selected
    turns(2);
    click(middle_of("keys.ease=hold"));
    EXPECT_EQ(line().keys()[1].ease, Ease::hold);
    click(middle_of("keys.remove"));
    EXPECT_FALSE(line().keys().back().values.contains("zoom"));
}

}  // namespace
}  // namespace echolux::test
