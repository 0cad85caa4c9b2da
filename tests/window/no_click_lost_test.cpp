// Input is never lost, however low the frame rate is: clicks, double clicks and keys apply to the state in which they
// were made, and are handled before rays are traced.
#include <fmt/format.h>

#include <cmath>

#include "app/viewer/view_source.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class NoClickLost : public WindowRun {
  protected:
    void open_ball(const std::string& panels) {
        options_.assignments.push_back("window.open_panels=" + panels);
        open_window(1280, 1600);
        work().open(write_ball("ball.nrrd"));
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
        ASSERT_TRUE(settle());
    }

    // Sends the events at these times from now, all of them between two pictures.
    void hands(const std::vector<std::pair<double, WindowEvent>>& events) {
        const double now_s = native().now_s();
        for (const auto& [after_s, event] : events) native().push(TimestampedEvent{event, now_s + after_s});
        turns(3);
    }

    // Adds a typed letter as the window system reports it.
    static void add_letter(std::vector<std::pair<double, WindowEvent>>& events, double at_s, char letter) {
        events.emplace_back(at_s, KeyPressed{std::string(1, letter), true, false});
        events.emplace_back(at_s, TextTyped{static_cast<std::uint32_t>(letter)});
        events.emplace_back(at_s + 0.02, KeyPressed{std::string(1, letter), false, false});
    }
};

TEST_F(NoClickLost, SlowMeasuresWhilePictureIsRefined) {
    open_ball("measure");
    work().change("view.rest_samples", std::int64_t{512});
    for (const PaneKind pane : {PaneKind::volume, PaneKind::b_scan}) {
        const std::size_t before = work().view().distances.size();
        click(middle_of("measure.distance"));
        work().change("view.azimuth_deg", work().view().azimuth_deg + 1);  // the picture starts over
        const Pixel middle = middle_of(pane);
        click(middle);
        click({middle.x + 14, middle.y + 9});
        EXPECT_FALSE(window().stats().is_at_rest) << "it was to be refined still";
        EXPECT_EQ(work().view().distances.size(), before + 6);
        press("Esc");
    }
}

TEST_F(NoClickLost, ClickOfUnsteadyHandMeasuresWithoutTurning) {
    open_ball("measure");
    click(middle_of("measure.distance"));
    const double azimuth = work().view().azimuth_deg;
    const Pixel middle = middle_of(PaneKind::volume);
    for (const double away : {0.0, 15.0}) {
        hands({{0, PointerMoved{middle.x + away, middle.y}},
               {0.02, PointerButton{0, true}},
               {0.05, PointerMoved{middle.x + away + 1, middle.y + 1}},
               {0.09, PointerButton{0, false}}});
    }
    EXPECT_EQ(work().view().distances.size(), 6u);
    EXPECT_EQ(work().view().azimuth_deg, azimuth);
}

TEST_F(NoClickLost, DoubleClicksFollowTimesOfClicks) {
    open_ball("measure");
    const Pixel middle = middle_of(PaneKind::en_face);
    const auto click_twice = [&](double between_s) {
        const double second = 0.08 + between_s;
        hands({{0, PointerMoved{middle.x, middle.y}},
               {0.02, PointerButton{0, true}},
               {0.08, PointerButton{0, false}},
               {second, PointerButton{0, true}},
               {second + 0.06, PointerButton{0, false}}});
    };
    click_twice(0.7);
    EXPECT_TRUE(window().place_of(PaneKind::volume).has_value()) << "two clicks";
    turns(60);
    click_twice(0.15);
    EXPECT_FALSE(window().place_of(PaneKind::volume).has_value()) << "a double click";
}

TEST_F(NoClickLost, SlowNumberTypedAfterFailedDoubleClickIsTaken) {
    open_ball("view,transfer");
    const Look look = work().view().look;
    const Pixel number = middle_of("view.opacity");
    std::vector<std::pair<double, WindowEvent>> events{{0, PointerMoved{number.x, number.y}}};
    for (const double at : {0.02, 0.62}) {  // too slow for a double click
        events.emplace_back(at, PointerButton{0, true});
        events.emplace_back(at + 0.06, PointerButton{0, false});
    }
    add_letter(events, 0.9, '2');
    add_letter(events, 1.0, '.');
    add_letter(events, 1.1, '5');
    events.emplace_back(1.3, KeyPressed{"Enter", true, false});
    events.emplace_back(1.35, KeyPressed{"Enter", false, false});
    hands(events);
    turns(10);
    EXPECT_EQ(work().view().opacity, 2.5);
    EXPECT_EQ(work().view().look, look) << "2 is also the key of a direction to look from";
}

TEST_F(NoClickLost, DigitsAreShortcutsAfterClickElsewhere) {
    open_ball("view,transfer");
    click(middle_of("view.opacity"));
    click(middle_of(PaneKind::b_scan));
    press("5");
    EXPECT_EQ(work().view().look, Look::top);
}

TEST_F(NoClickLost, PaletteUnderstandsEarlyTyping) {
    open_ball("view");
    ASSERT_EQ(work().settings().window().layout, PaneLayout::volume_and_sections);
    std::vector<std::pair<double, WindowEvent>> events{{0, KeyPressed{"Ctrl", true, false}},
                                                       {0.02, KeyPressed{"K", true, false}},
                                                       {0.06, KeyPressed{"K", false, false}},
                                                       {0.08, KeyPressed{"Ctrl", false, false}}};
    double at_s = 0.1;
    for (const char letter : std::string("sections only")) {
        events.emplace_back(at_s, TextTyped{static_cast<std::uint32_t>(letter)});
        at_s += 0.02;
    }
    events.emplace_back(at_s, KeyPressed{"Enter", true, false});
    hands(events);
    turns(5);
    EXPECT_EQ(work().settings().window().layout, PaneLayout::sections);
}

// The window's clock is controlled by the test: each picture of the live volume takes as long as on a slow machine.
TEST_F(NoClickLost, InputIsHandledBeforeRays) {
    open_window();
    ASSERT_TRUE(open_simulator());
    ASSERT_TRUE(turn_until([this] { return work().viewer().live()->stats().finished_volumes > 1; }));
    constexpr double two_a_second = 0.5;
    native().keep_time_by_hand(two_a_second);
    turns(10);
    for (int i = 0; i < 12; ++i) {
        native().push(PointerMoved{700.0 + 3 * i, 300});
        const std::int64_t shown = window().stats().shown;
        ASSERT_TRUE(turn_until([&] { return window().stats().shown > shown; }, 3));
        EXPECT_LE(window().stats().answered_s, 0.1);
    }
}

}  // namespace
}  // namespace echolux::test
