// Changes without input: playing series, recording sources, pictures that are refined and come to rest. Also the value
// display under the pointer.
#include <algorithm>

#include "app/viewer/view_source.h"
#include "engine/scan/scan.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class WindowTime : public WindowRun {
  protected:
    WindowTime() { draws_each_picture_ = true; }
    void open(const std::filesystem::path& path) {
        native().push(FilesDropped{{path}});
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().grid().has_value(); }));
        ASSERT_TRUE(settle());
    }
    ViewSource& view_source() { return *work().viewer().view_source(); }
};

TEST_F(WindowTime, SlowDroppedSeriesIsPlayedAndStepped) {
    constexpr std::int64_t steps = 4;
    std::filesystem::create_directory(folder() / "series");
    for (std::int64_t i = 0; i < steps; ++i) {
        const auto ball = write_ball("ball.nrrd", 0.1 + 0.1 * static_cast<double>(i));
        std::filesystem::rename(ball, folder() / "series" / ("t" + std::to_string(i) + ".nrrd"));
    }
    open_window();
    open(folder() / "series");
    Timeline& time = *view_source().timeline();
    ASSERT_EQ(time.steps(), steps);
    const Image first = picture();
    press("Right");
    ASSERT_TRUE(turn_until([&] { return time.shown() == 1; }));
    ASSERT_TRUE(settle());
    EXPECT_GT(difference(first, picture(), part(PaneKind::volume)), 0.3) << "the larger ball";
    press("Left");
    ASSERT_TRUE(turn_until([&] { return time.shown() == 0; }));
    ASSERT_TRUE(settle());
    EXPECT_LT(difference(first, picture(), part(PaneKind::volume)), 0.1);
    std::vector<std::int64_t> seen;
    press("Space");
    ASSERT_TRUE(turn_until([&] {
        if (seen.empty() || seen.back() != time.shown()) seen.push_back(time.shown());
        return seen.size() > 2 * steps;
    }));
    for (std::size_t i = 1; i < seen.size(); ++i) {
        if (time.left_out() == 0) {
            EXPECT_EQ(seen[i], (seen[i - 1] + 1) % steps);
        }
    }
    press("Space");
    EXPECT_FALSE(time.plays());
}

TEST_F(WindowTime, ClickRecordsSimulatorAndReopens) {
    options_.assignments.push_back("window.open_panels=source");
    open_window();
    ASSERT_TRUE(open_simulator());
    turns(5);
    click(middle_of("source.record"));
    ASSERT_TRUE(turn_until([this] {
        const auto recorder = view_source().live()->stats().recorder;
        return recorder && recorder->blocks > 4;
    }));
    EXPECT_TRUE(view_source().live()->is_recording());
    click(middle_of("source.record"));
    ASSERT_TRUE(turn_until([this] { return !view_source().live()->is_recording() && work().jobs().is_idle(); }));
    std::filesystem::path scan;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder().path())) {
        if (entry.path().extension() == ".raw") scan = std::filesystem::path(entry.path()).replace_extension(".toml");
    }
    ASSERT_FALSE(scan.empty());
    EXPECT_GE(open_scan(scan).geometry.volumes, 1);
    native().push(FilesDropped{{scan}});
    ASSERT_TRUE(turn_until([this] { return window().place_of("question.confirm").has_value(); }, 50));
    click(middle_of("question.confirm"));
    EXPECT_TRUE(turn_until([this] { return view_source().live() != nullptr && view_source().live()->is_recorded(); }));
}

TEST_F(WindowTime, ShowsValueUnderPointer) {
    open_window();
    open(write_ball("ball.nrrd"));
    const Region pane = part(PaneKind::b_scan);
    // Below the title, in the corner without the scale bar.
    const Region corner{pane.left, pane.top + 34, std::min<std::int64_t>(pane.width, 160), 32};
    const Region of_bar{pane.left + pane.width / 2, pane.top + pane.height - 40, pane.width / 2, 40};
    const Image before = picture();
    move(middle_of(PaneKind::b_scan));
    ASSERT_TRUE(settle());
    EXPECT_GT(difference(before, picture(), corner), 2) << "the read-out is missing";
    EXPECT_EQ(difference(before, picture(), of_bar), 0) << "the scale bar is covered";
    move({1, 400});
    ASSERT_TRUE(settle());
    EXPECT_LT(difference(before, picture(), corner), 0.5) << "the read-out is still shown";
}

TEST_F(WindowTime, FinestPictureComesLast) {
    open_window(480, 360);
    open(write_ball("ball.nrrd"));
    work().change("view.mode", std::string("mip"));
    work().change("view.rest_samples", std::int64_t{32});
    ASSERT_TRUE(settle());
    const std::int64_t shown = window().stats().shown;
    const std::int64_t casts = work().viewer().renderer().cast_stats().timed;
    for (int i = 0; i < 40; ++i) window().turn(0.02);
    EXPECT_EQ(window().stats().shown, shown);
    EXPECT_LE(work().viewer().renderer().cast_stats().timed, casts + 1) << "rays are cast that nobody sees";
}

}  // namespace
}  // namespace echolux::test
