// Rules of the whole window: menus stay below their bar and inside the window, the buttons of a live source stay
// reachable in small windows, nothing ends a running source or discards work without a question, marks belong to the
// picture below them, and the light theme leaves pictures dark.
#include <algorithm>
#include <cmath>

#include "app/viewer/view_source.h"
#include "compute/indexing.h"
#include "ui/window/layout.h"
#include "ui/workspace/losses.h"
#include "window_run.h"

namespace echolux::test {
namespace {

using Rectangle = std::array<float, 4>;  // left, top, right, bottom

struct ScreenSize {
    std::int64_t width, height;
    double scale;
};
constexpr std::array screen_sizes{ScreenSize{1280, 800, 1}, ScreenSize{800, 600, 1}, ScreenSize{1280, 800, 2}};

class WindowRules : public WindowRun {
  protected:
    void open_ball() {
        work().open(write_ball("ball.nrrd"));
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().jobs().is_idle(); }));
    }
    void open_live() {
        ASSERT_TRUE(open_simulator());
        turns(3);
    }
    bool is_live() { return work().viewer().is_open() && work().viewer().live() != nullptr; }
    void lose_blocks() {
        LiveStats stats = work().viewer().live()->stats();
        stats.arrived.lost_blocks += 12;
        work().losses().follow(stats);
    }
    static bool overlap(const Rectangle& a, const Rectangle& b) {
        return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    }
};

TEST_F(WindowRules, MenusStayBelowBarAndInsideWindow) {
    for (const auto& [width, height, scale] : screen_sizes) {
        open_window(width, height, scale);
        open_ball();
        const bool is_folded = window().place_of("menu.Menu").has_value();
        for (const char* title : {"File", "Edit", "View", "Source", "Tools", "Window", "Help"}) {
            SCOPED_TRACE(testing::Message() << title << " at " << width << " x " << height << ", scale " << scale);
            if (is_folded) {
                ASSERT_TRUE(turn_until([this] { return window().place_of("menu.Menu").has_value(); }));
                click(middle_of("menu.Menu"));
            }
            click(middle_of(std::string("menu.") + title));
            turns(3);
            const auto place = window().place_of(std::string("open menu.") + title);
            ASSERT_TRUE(place.has_value());
            EXPECT_GE((*place)[1], bar_height * static_cast<float>(scale) - 1) << "covers the bar";
            EXPECT_LE((*place)[3], static_cast<float>(height));
            EXPECT_LE((*place)[2], static_cast<float>(width));
            click({0.5 * static_cast<double>(width), static_cast<double>(height) - 4});  // outside closes it
            turns(3);
        }
        TearDown();
    }
}

TEST_F(WindowRules, EscClosesMenusAndNothingElse) {
    open_window();
    open_ball();
    const auto open_menus = [this] {
        return std::ranges::count_if(window().places(),
                                     [](const auto& one) { return one.first.starts_with("open menu."); });
    };
    work().actions().run("measure.distance");
    turns(3);
    ASSERT_TRUE(window().place_of("measure.hint").has_value());
    click(middle_of("menu.View"));
    ASSERT_EQ(open_menus(), 1);
    move(middle_of("menu.Camera"));  // the submenu opens under the pointer, which stays there
    ASSERT_TRUE(turn_until([&] { return open_menus() == 2; }, 100));
    press("Esc");
    turns(20);
    EXPECT_EQ(open_menus(), 0);
    EXPECT_TRUE(window().place_of("measure.hint").has_value()) << "one thing at a time";
    press("Esc");
    EXPECT_FALSE(window().place_of("measure.hint").has_value());
}

TEST_F(WindowRules, TextOfScenesEndsBeforeTheirDrawing) {
    open_window();
    int compared = 0;
    for (const auto& [name, place] : window().places()) {
        if (!name.ends_with(".drawing")) continue;
        const auto text = window().place_of(name.substr(0, name.size() - 8) + ".text");
        ASSERT_TRUE(text.has_value()) << name;
        EXPECT_LE((*text)[2], place[0]) << name;
        ++compared;
    }
    EXPECT_GE(compared, 8);
}

TEST_F(WindowRules, MenusNeedNoScrollBarAt1280x800) {
    open_window();
    open_live();
    for (const char* title : {"File", "Edit", "View", "Source", "Tools", "Window", "Help"}) {
        click(middle_of(std::string("menu.") + title));
        turns(3);
        const auto place = window().place_of(std::string("open menu.") + title);
        ASSERT_TRUE(place.has_value()) << title;
        EXPECT_LT((*place)[3], 780) << title;
        press("Esc");
    }
}

TEST_F(WindowRules, LiveButtonsStayReachableInSmallWindows) {
    for (const auto& [width, height, scale] : screen_sizes) {
        SCOPED_TRACE(testing::Message() << width << " x " << height << ", scale " << scale);
        open_window(width, height, scale);
        open_live();
        const auto before = window().place_of("bar.record");
        lose_blocks();
        turns(3);
        std::vector<Rectangle> all;
        for (const char* name : {"bar.record", "bar.start_stop", "bar.state", "losses.show", "losses.acknowledge"}) {
            const auto place = window().place_of(name);
            ASSERT_TRUE(place.has_value()) << name;
            EXPECT_GE((*place)[0], 0) << name;
            EXPECT_LE((*place)[2], static_cast<float>(width)) << name;
            all.push_back(*place);
        }
        for (const char* menu : {"menu.Menu", "menu.File", "menu.Help"}) {
            if (const auto place = window().place_of(menu)) all.push_back(*place);
        }
        ASSERT_GE(all.size(), 6u);
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(all[i], all[j])) << i << " " << j;
        }
        EXPECT_EQ(window().place_of("bar.record"), before) << "losses have a reserved place";
        for (const auto& [name, place] : window().places()) EXPECT_FALSE(name.starts_with("cut.")) << name;
        click(middle_of("bar.record"));
        ASSERT_TRUE(turn_until([this] { return work().viewer().live()->is_recording(); }));
        turns(3);
        EXPECT_EQ(window().place_of("bar.record"), before);
        click(middle_of("bar.record"));
        ASSERT_TRUE(turn_until([this] { return !work().viewer().live()->is_recording() && work().jobs().is_idle(); }));
        click(middle_of("losses.acknowledge"));
        EXPECT_EQ(work().losses().unseen(), 0);
        click(middle_of("bar.start_stop"));
        ASSERT_TRUE(turn_until([this] { return !work().viewer().live()->is_running(); }));
        TearDown();
    }
}

TEST_F(WindowRules, SlowNothingIsCutAtScaleTwo) {
    options_.assignments.push_back(
        "window.open_panels=source,processing,statistics,flow,layers,view,transfer,stabilise,measure,filters");
    for (const std::int64_t width : {1280, 1920}) {
        SCOPED_TRACE(width);
        open_window(width, 6000, 2);
        open_live();
        turns(20);
        for (const auto& [name, place] : window().places())
            EXPECT_TRUE(!name.starts_with("cut.") || name == "cut.saved to") << name;
        TearDown();
    }
}

TEST_F(WindowRules, LossIsShownOnTimeLine) {
    open_window();
    open_live();
    lose_blocks();
    turns(3);
    ASSERT_EQ(work().losses().selected(), nullptr);
    click(middle_of("losses.show"));
    ASSERT_NE(work().losses().selected(), nullptr);
    EXPECT_EQ(work().losses().selected()->blocks, 12);
    EXPECT_EQ(work().losses().unseen(), 12) << "shown, but not acknowledged";
    EXPECT_TRUE(window().place_of("losses.bar").has_value());
}

TEST_F(WindowRules, OpeningAsksWhileSourceRuns) {
    open_window();
    open_live();
    for (const bool is_confirmed : {false, true}) {
        work().open(write_ball("ball.nrrd"));
        ASSERT_TRUE(turn_until([this] { return window().place_of("question.confirm").has_value(); }));
        EXPECT_TRUE(work().viewer().live()->is_running());
        click(middle_of(is_confirmed ? "question.confirm" : "question.keep"));
        turns(20);
        EXPECT_FALSE(window().place_of("question.confirm").has_value());
        if (!is_confirmed) {
            ASSERT_TRUE(is_live() && work().viewer().live()->is_running());
        }
    }
    EXPECT_TRUE(turn_until([this] { return work().viewer().is_open() && !is_live(); }));
}

TEST_F(WindowRules, ClosingAndOtherSourcesAskWhileSourceRuns) {
    open_window();
    open_live();
    for (const char* action : {"file.close", "source.simulator"}) {
        work().actions().run(action);
        ASSERT_TRUE(turn_until([this] { return window().place_of("question.keep").has_value(); })) << action;
        press("Esc");
        EXPECT_FALSE(work().question().has_value());
        EXPECT_TRUE(is_live() && work().viewer().live()->is_running());
    }
    work().stop_source();
    ASSERT_TRUE(turn_until([this] { return !work().viewer().live()->is_running(); }));
    work().close();
    EXPECT_FALSE(work().question().has_value()) << "nothing would be lost";
    EXPECT_FALSE(work().viewer().is_open());
}

TEST_F(WindowRules, UnsavedMeasurementsAsk) {
    open_window();
    open_ball();
    work().change("view.distances", std::vector<double>{0, 0, 0, 10, 10, 10});
    work().close();
    ASSERT_TRUE(work().question().has_value());
    EXPECT_NE(work().question()->text.find("1 measurement"), std::string::npos) << work().question()->text;
    work().answer(false);
    EXPECT_TRUE(work().viewer().is_open());
    work().save_session(folder() / "kept.toml");
    ASSERT_TRUE(turn_until([this] { return work().jobs().is_idle(); }));
    work().close();
    EXPECT_FALSE(work().question().has_value()) << "the session has them";
    EXPECT_FALSE(work().viewer().is_open());
}

TEST_F(WindowRules, NewSessionAsks) {
    open_window();
    open_ball();
    work().change("view.distances", std::vector<double>{0, 0, 0, 10, 10, 10});
    for (const bool is_confirmed : {false, true}) {
        press("Ctrl+N");
        turns(3);
        click(middle_of(is_confirmed ? "question.confirm" : "question.keep"));
        EXPECT_EQ(work().viewer().is_open(), !is_confirmed);
        EXPECT_EQ(work().view().distances.empty(), is_confirmed);
    }
}

Question question_for(bool& is_confirmed, bool is_offer) {
    return {.title = "Go on?",
            .text = "It goes on.",
            .confirm = "Go on",
            .keep = "Stay",
            .confirmed = [&is_confirmed] { is_confirmed = true; },
            .is_offer = is_offer};
}

TEST_F(WindowRules, EnterConfirmsOffersOnly) {
    open_window();
    for (const bool is_offer : {false, true}) {
        bool is_confirmed = false;
        work().ask(question_for(is_confirmed, is_offer));
        turns(3);
        press("Enter");
        EXPECT_FALSE(work().question().has_value());
        EXPECT_EQ(is_confirmed, is_offer);
    }
}

TEST_F(WindowRules, OffersEndWhenSomethingOpens) {
    open_window();
    for (const bool is_offer : {true, false}) {
        bool is_confirmed = false;
        work().ask(question_for(is_confirmed, is_offer));
        open_ball();
        EXPECT_EQ(work().question().has_value(), !is_offer);
        EXPECT_FALSE(is_confirmed);
    }
}

// With two pictures per second, pictures are late. Their marks must not run ahead.
TEST_F(WindowRules, MarksBelongToDisplayedPicture) {
    open_window();
    open_ball();
    native().keep_time_by_hand(0.5);
    work().change("view.rest_samples", std::int64_t{64});
    int late = 0;
    for (int i = 0; i < 40; ++i) {
        work().view().azimuth_deg = 3.0 * i;
        work().view_edited(Edit::in_progress);
        native().push(PointerMoved{300.0 + i, 300});
        window().turn(0.002);
        const std::optional<double> shown = window().shown_azimuth_deg(PaneKind::volume);
        const std::optional<double> marked = window().marked_azimuth_deg(PaneKind::volume);
        ASSERT_TRUE(shown.has_value() && marked.has_value());
        EXPECT_EQ(*shown, *marked) << i;
        late += *shown != work().view().azimuth_deg;
    }
    EXPECT_GT(late, 3) << "no picture was late: nothing was tested";
}

TEST_F(WindowRules, LightThemeLeavesPicturesDark) {
    open_window();
    open_ball();
    ASSERT_TRUE(settle());
    const auto level = [](const Image& image, double x, double y) {
        const auto at = index(4 * (static_cast<std::int64_t>(y) * image.width + static_cast<std::int64_t>(x)));
        return (image.pixels[at] + image.pixels[at + 1] + image.pixels[at + 2]) / 3;
    };
    const Image dark = picture();
    work().actions().run("window.theme.light");
    turns(3);
    const Image light = picture();
    EXPECT_LT(level(dark, 1270, 30), 60);
    EXPECT_GT(level(light, 1270, 30), 200);
    const Region pane = part(PaneKind::b_scan);
    EXPECT_EQ(difference(dark, light, pane), 0) << "marks too";
}

}  // namespace
}  // namespace echolux::test
