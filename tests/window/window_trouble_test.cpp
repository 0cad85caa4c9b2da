// Trouble in the window: a lost or missing graphics device, a recording that is about to be ended, a failing action.
#include <gtest/gtest.h>

#include <utility>

#include "app/viewer/view_source.h"
#include "engine/scan/scan.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/recordings.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class WindowInTrouble : public WindowRun {
  protected:
    WindowInTrouble() { draws_each_picture_ = true; }
    void open_ball() {
        work().open(write_ball("ball.nrrd"));
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
        ASSERT_TRUE(settle());
    }
    ViewSource& view_source() { return *work().viewer().view_source(); }
};

// The interface reads the value under the pointer from the device during layout.
TEST_F(WindowInTrouble, RestoresDeviceLostUnderPointer) {
    bool is_lost = false;
    options_.device.loses = [&is_lost] { return std::exchange(is_lost, false); };
    open_window();
    open_ball();
    const Image before = picture();
    const Pixel middle = middle_of(PaneKind::b_scan);
    is_lost = true;
    native().push(PointerMoved{middle.x, middle.y});
    ASSERT_TRUE(turn_until([&] { return !is_lost; }));
    ASSERT_TRUE(settle());
    EXPECT_LT(difference(before, picture(), part(PaneKind::volume)), 2);
    press("?");
    EXPECT_GT(difference(before, picture(), part(PaneKind::volume)), 1);
}

TEST_F(WindowInTrouble, WaitsForDeviceToReturn) {
    bool is_away = false;
    options_.device.loses = [&is_away] { return is_away; };
    open_window();
    open_ball();
    const Image before = picture();
    is_away = true;
    work().change("view.azimuth_deg", work().view().azimuth_deg + 1);
    ASSERT_TRUE(turn_until([this] { return !work().viewer().has_renderer(); }));
    work().close();  // there is no renderer to clear
    work().open(folder() / "ball.nrrd");
    turns(20);
    EXPECT_FALSE(work().viewer().has_renderer());
    is_away = false;
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    work().change("view.azimuth_deg", work().view().azimuth_deg - 1);
    ASSERT_TRUE(settle());
    EXPECT_LT(difference(before, picture(), part(PaneKind::volume)), 2);
}

std::filesystem::path recording_in(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".raw") return std::filesystem::path(entry.path()).replace_extension(".toml");
    }
    return {};
}

TEST_F(WindowInTrouble, QuittingDuringRecordingAsks) {
    draws_each_picture_ = false;
    open_window();
    click(middle_of("start.sim.layers"));
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().grid().has_value(); }));
    work().recordings().start();
    const auto records = [this] {
        const auto written = view_source().live()->stats().recorder;
        return written && written->blocks > 20;
    };
    ASSERT_TRUE(turn_until(records));
    for (const bool uses_key : {false, true}) {
        if (uses_key)
            press("Ctrl+Q");
        else
            native().push(CloseRequested{});
        turns(3);
        ASSERT_TRUE(window().place_of("question.confirm").has_value()) << "a visible dialog";
        press("Ctrl+Q");
        EXPECT_TRUE(window().turn(0)) << "a second request is no answer";
        press("Enter");
        EXPECT_FALSE(window().place_of("question.confirm").has_value());
        EXPECT_TRUE(window().turn(0));
        EXPECT_TRUE(view_source().live()->is_recording()) << "Enter keeps the recording";
    }
    press("Ctrl+Q");
    turns(3);
    const auto confirm = middle_of("question.confirm");
    move(confirm);
    native().push(PointerButton{0, true});
    window().turn(0.002);
    native().push(PointerButton{0, false});
    EXPECT_FALSE(turn_until([] { return false; }, 20));
    EXPECT_FALSE(window().turn(0));
    TearDown();  // same as at program exit
    const Scan recorded = open_scan(recording_in(folder().path()));
    EXPECT_TRUE(recorded.recording.finished) << "a slow machine may have lost blocks, the end is right all the same";
    EXPECT_GE(recorded.geometry.volumes, 1);
}

// A panel finds errors by the section of its actions.
TEST_F(WindowInTrouble, ShowsErrorInPanelOfAction) {
    draws_each_picture_ = false;
    open_window();
    open_ball();
    work().actions().add(
        {"source.fails", "Fails", "Source", {}, "", [] { throw Error(ErrorCode::device, "planted", "test"); }});
    PanelState state;
    const Style style;
    run_action({work(), style, state}, "source.fails");
    EXPECT_NE(work().notices().standing("source"), nullptr);
}

}  // namespace
}  // namespace echolux::test
