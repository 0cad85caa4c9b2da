// Trouble in the window: a lost or missing graphics device, a recording that is about to be ended, a source that falls
// silent or fails, a failing action.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "app/viewer/live_controller.h"
#include "app/viewer/view_source.h"
#include "compute/indexing.h"
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

// A source on the desk of the tests (plugins/hostile.c).
class WindowOfSource : public WindowInTrouble {
  protected:
    void open_hostile(const std::string& fault) {
        draws_each_picture_ = false;
        open_window();
        SourceRequest source;
        source.name = "plugin:" ECHOLUX_HOSTILE_PLUGINS "/hostile.so," + fault;
        source.assignments = {"scan.a_scans=10", "scan.b_scans=7"};
        source.settings.block_b_scans = 3;
        work().open_source(source);
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    }
    bool becomes(SourceState state) {
        return turn_until([&] { return view_source().live()->state() == state; });
    }
    // Expects the dot of the badge in this colour.
    void expect_badge(const ImVec4& colour) {
        turns(3);
        const auto [left, top, right, bottom] = window().place_of("bar.state").value();
        const Image image = picture();
        const auto at = index(4 * (std::lround(0.5f * (top + bottom)) * image.width + std::lround(left + 14)));
        for (const auto& [channel, wanted] : {std::pair{0, colour.x}, std::pair{1, colour.y}, std::pair{2, colour.z}})
            EXPECT_NEAR(image.pixels[at + index(channel)], 255 * wanted, 3) << channel;
    }
};

TEST_F(WindowOfSource, SilenceIsAmberAndEndsWithData) {
    open_hostile("falls silent");
    ASSERT_TRUE(becomes(SourceState::live));
    expect_badge(Style().good);
    ASSERT_TRUE(becomes(SourceState::late));
    expect_badge(Style().late);
    ASSERT_TRUE(becomes(SourceState::live));
    expect_badge(Style().good);
}

TEST_F(WindowOfSource, LostSourceIsRed) {
    open_hostile("dies");
    ASSERT_TRUE(becomes(SourceState::live));
    ASSERT_TRUE(becomes(SourceState::failed));
    expect_badge(Style().alarm);
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
