// Nothing moves under the pointer: notices, jobs, states and counts that appear or change leave every control in its
// place. All controls of all panels are checked together, in a window that is high enough for them.
#include <fmt/format.h>

#include <atomic>

#include "app/viewer/view_source.h"
#include "await.h"
#include "ui/workspace/recordings.h"
#include "window_run.h"

namespace echolux::test {
namespace {

using Rectangles = std::map<std::string, std::array<float, 4>>;

class NothingMoves : public WindowRun {
  protected:
    void open_live(double column, std::int64_t width = 1400) {
        open_panels(column, width);
        open_source("20000");
        ASSERT_TRUE(turn_until([this] { return live().is_running(); }));
        ASSERT_TRUE(turn_until([this] { return live().stats().finished_volumes > 2 && !work().is_busy(); }));
        turns(30);  // the first volume has arrived and its histogram is known
        begin_ = window().places();
        ASSERT_GT(begin_.size(), 50u);
    }
    void open_panels(double column, std::int64_t width) {
        options_.assignments.push_back(
            "window.open_panels=source,processing,flow,statistics,log,view,transfer,measure,export,time");
        options_.assignments.push_back(fmt::format("window.left_width={}", column));
        options_.assignments.push_back(fmt::format("window.right_width={}", column));
        options_.assignments.push_back("view.mode=mip");
        open_window(width, 3000);
        move({0.5 * static_cast<double>(width), 300});
    }
    void open_source(const std::string& line_rate_hz) {
        SourceRequest source;
        source.name = "sim:vessel";
        source.assignments = {"simulation.samples=128", "simulation.a_scans=24", "simulation.b_scans=12",
                              "simulation.line_rate_hz=" + line_rate_hz};
        work().open_source(source);
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    }
    LiveController& live() { return *work().viewer().view_source()->live(); }

    // All earlier controls are still in their places. A notice or job may add its own controls and remove them.
    void expect_still(const std::string& after) {
        turns(2);
        for (const auto& [name, place] : begin_) {
            if (name.starts_with("notice") || name.starts_with("job.")) continue;
            const auto now = window().place_of(name);
            ASSERT_TRUE(now.has_value()) << name << " is gone after " << after;
            EXPECT_EQ(*now, place) << name << " moved after " << after;
        }
    }

    Rectangles begin_;
};

constexpr const char* long_line =
    "37 blocks were lost before block 1200: the disk is too slow for what comes, and this line is too long for any "
    "panel; record less at a time, or on another disk";

TEST_F(NothingMoves, SlowByNotices) {
    for (const double column : {320.0, 230.0}) {
        open_live(column);
        for (const char* place :
             {"", "source", "files", "export", "view", "window", "recipe", "flow", "calibration", "scan", "display"}) {
            work().notices().report_problem(place, long_line);
            expect_still(std::string("trouble of ") + place);
        }
        work().notices().note("export", long_line, {folder() / "kept.png"});
        expect_still("a note of a file");
        work().actions().run("notices.dismiss");
        expect_still("dismissing all");
        TearDown();
    }
}

TEST_F(NothingMoves, ByMessageAfterBadValue) {
    open_live(320);
    EXPECT_FALSE(work().change("view.opacity", -3.0));
    expect_still("a value that cannot work");
    EXPECT_FALSE(work().change("recipe.depth_begin", std::int64_t{100000}));
    expect_still("a recipe that cannot work");
}

TEST_F(NothingMoves, SlowByRecordingThatBeginsGrowsAndEnds) {
    open_live(320);
    work().recordings().start();
    ASSERT_TRUE(turn_until([this] { return live().is_recording(); }));
    expect_still("the begin of a recording");
    ASSERT_TRUE(turn_until([this] { return live().stats().recorder && live().stats().recorder->blocks > 30; }));
    expect_still("a recording that grew");
    work().recordings().stop();
    ASSERT_TRUE(turn_until([this] { return !live().is_recording() && work().jobs().is_idle(); }));
    expect_still("the end of a recording");
}

TEST_F(NothingMoves, SlowBySourceThatStopsAndStarts) {
    open_live(320);
    work().stop_source();
    ASSERT_TRUE(turn_until([this] { return !live().is_running(); }));
    expect_still("the end of the source");
    ASSERT_TRUE(settle());
    expect_still("rest");
    work().start_source();
    ASSERT_TRUE(turn_until([this] { return live().is_running(); }));
    expect_still("the start of the source");
}

// The first volume takes seconds to complete.
TEST_F(NothingMoves, ByFirstVolume) {
    open_panels(320, 1400);
    open_source("60");
    turns(3);
    ASSERT_FALSE(work().viewer().view_source()->grid().has_value());
    begin_ = window().places();
    ASSERT_TRUE(turn_until([this] { return work().viewer().view_source()->grid().has_value(); }));
    turns(20);
    expect_still("the first volume");
}

TEST_F(NothingMoves, SlowByJobs) {
    open_live(320);
    std::atomic<bool> continues = true;
    for (int i = 0; i < 3; ++i) {
        work().jobs().start("a job with a title that is longer than the room for it",
                            [&continues](Progress& progress) -> Jobs::LastStep {
                                progress.begin("counting what is there", 1000000, "things");
                                AWAIT((progress.advance(1), !continues));
                                return {};
                            },
                            {});
    }
    ASSERT_TRUE(turn_until([this] { return window().place_of("job.cancel").has_value(); }));
    expect_still("the begin of jobs");
    const auto cancel = window().place_of("job.cancel");
    ASSERT_TRUE(turn_until([this] { return work().jobs().states().front().seconds_left.has_value(); }));
    work().notices().report_problem("files", long_line);
    turns(5);
    EXPECT_EQ(window().place_of("job.cancel"), cancel) << "while it works, and beside a notice";
    continues = false;
    ASSERT_TRUE(turn_until([this] { return work().jobs().is_idle(); }));
    expect_still("the end of jobs");
}

TEST_F(NothingMoves, InNarrowWindow) {
    open_live(230, 760);
    work().notices().report_problem("source", long_line);
    expect_still("trouble");
    work().recordings().start();
    ASSERT_TRUE(turn_until([this] { return live().stats().recorder && live().stats().recorder->blocks > 10; }));
    expect_still("a recording");
    work().recordings().stop();
    ASSERT_TRUE(turn_until([this] { return !live().is_recording() && work().jobs().is_idle(); }));
}

TEST_F(NothingMoves, OnStartPage) {
    open_window();
    ASSERT_TRUE(settle());
    begin_ = window().places();
    for (const char* place : {"files", "source"}) {
        work().notices().report_problem(place, long_line);
        expect_still("trouble");
    }
}

// Clicks pass through a message over the picture.
TEST_F(NothingMoves, MessageOverPictureTakesNoClicks) {
    open_window();
    work().open(write_ball("ball.nrrd"));
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    ASSERT_TRUE(settle());
    const Region pane = part(PaneKind::volume);
    const Pixel below{static_cast<double>(pane.left + pane.width) - 60,
                      static_cast<double>(pane.top + pane.height) - 40};
    work().notices().report_problem("view", long_line);
    turns(3);
    const double azimuth = work().view().azimuth_deg;
    drag(below, {below.x - 80, below.y});
    EXPECT_GT(std::abs(work().view().azimuth_deg - azimuth), 5);
}

TEST_F(NothingMoves, SlowNoticesEndWithTheirSource) {
    open_live(320);
    work().notices().report_problem("source", "3 blocks were lost", "lost");
    work().notices().report_problem("source", "30 blocks were lost", "lost");
    const Notice* lost = work().notices().standing("source");
    ASSERT_NE(lost, nullptr);
    EXPECT_EQ(lost->line, "30 blocks were lost");
    EXPECT_EQ(lost->times, 1) << "one notice, with one count";
    const auto of_lost = [](const Notice& notice) { return notice.topic == "lost"; };
    EXPECT_EQ(std::ranges::count_if(work().notices().all(), of_lost), 1);
    work().close();
    EXPECT_EQ(work().notices().standing("source"), nullptr);
}

}  // namespace
}  // namespace echolux::test
