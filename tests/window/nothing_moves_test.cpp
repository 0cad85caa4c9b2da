// Nothing moves under the pointer: notices, jobs, states and counts that appear or change leave every control in its
// place. All controls of all panels are checked together, in a window that is high enough for them.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "app/viewer/view_source.h"
#include "await.h"
#include "ui/workspace/losses.h"
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

// A scene without repeats is simulated again with those of the method. The rows of the method are there at once.
TEST_F(NothingMoves, SlowByFlowMethodThatRestartsScene) {
    open_panels(320, 1400);
    SourceRequest source{.name = "sim:vessel",
                         .assignments = {"simulation.samples=512", "simulation.a_scans=64", "simulation.b_scans=48"}};
    work().open_source(source);
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().viewer().view_source()->grid(); }));
    for (const std::string method : {"doppler", "speckle_variance"}) {
        ASSERT_TRUE(work().change("flow.method", method));
        turns(4);
        ASSERT_NE(work().restarting(), nullptr) << "the test is too slow for the machine";
        begin_ = window().places();
        ASSERT_TRUE(begin_.contains("flow.method"));
        ASSERT_TRUE(begin_.contains("view.flow_range"));
        ASSERT_TRUE(turn_until([this] { return work().restarting() == nullptr && !work().is_busy(); }));
        ASSERT_TRUE(turn_until([this] { return work().viewer().view_source()->flow_grid().has_value(); }));
        turns(30);
        expect_still("the first flow of " + method);
        if (method != "doppler") continue;
        work().open_source(source, Replacing::at_once);
        ASSERT_TRUE(turn_until([this] {
            return !work().is_busy() && work().viewer().is_open() && !work().viewer().view_source()->flow_grid() &&
                   work().viewer().view_source()->grid();
        }));
    }
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

TEST_F(NothingMoves, MessageCoversNoPicture) {
    open_window();
    work().open(write_ball("ball.nrrd"));
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    ASSERT_TRUE(settle());
    const Image before = picture();
    work().notices().report_problem("view", long_line);
    turns(3);
    for (const PaneKind pane : {PaneKind::volume, PaneKind::b_scan, PaneKind::en_face, PaneKind::side})
        EXPECT_EQ(difference(before, picture(), part(pane)), 0) << static_cast<int>(pane);
    EXPECT_TRUE(window().place_of("notice").has_value());
}

// The event of the session states how many blocks were lost when it was reported.
TEST_F(NothingMoves, SlowLossesHaveOneCountEverywhere) {
    open_live(320);
    LiveStats stats = live().stats();
    work().notices().report_problem("source", "3 blocks lost before block 7 (3 total)", "lost");
    for (const std::int64_t lost : {3, 40}) {
        stats.arrived.lost_blocks += lost;
        work().losses().follow(stats);
    }
    stats.arrived.lost_blocks = 0;
    turns(3);
    ASSERT_GE(work().losses().unseen(), 43);
    EXPECT_EQ(work().notices().standing("source")->line, work().losses().text());
    work().close(Replacing::at_once);
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
    work().close(Replacing::at_once);
    EXPECT_EQ(work().notices().standing("source"), nullptr);
}

// ---- Random clicks with a recorder of the layout: after the frames that answer a click, no control moves within 500
// ms, while a source runs and losses, notices, jobs and recordings come and go. Another document is another layout.

class RandomClicks : public NothingMoves {
  protected:
    void click_around(int clicks, std::uint64_t seed) {
        random_.seed(seed);
        for (int i = 0; i < clicks && !HasFatalFailure(); ++i) {
            const std::string clicked = click_somewhere();
            const std::string happened = let_something_happen();
            watch("click " + std::to_string(i) + " on " + clicked + ", " + happened);
        }
        EXPECT_GT(compared_, 20 * clicks) << "controls were compared";
    }

  private:
    int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

    // Controls that quit, or open a dialog that lists a folder, are left out.
    std::string click_somewhere() {
        std::vector<std::string> names;
        for (const auto& [name, place] : window().places()) {
            const bool is_of_source = name == "bar.start_stop" || name == "source.start_stop";
            if (name != "menu.window.quit" && !is_of_source && !name.starts_with("pane.")) names.push_back(name);
        }
        if (below(5) == 0 || names.empty()) {
            const Pixel at{static_cast<double>(below(1280)), static_cast<double>(below(800))};
            click(at, below(4) == 0 ? 1 : 0);
            return fmt::format("{:.0f}, {:.0f}", at.x, at.y);
        }
        const std::string name = names[static_cast<std::size_t>(below(static_cast<int>(names.size())))];
        click(middle_of(name), 0);
        return name;
    }

    std::string let_something_happen() {
        switch (below(7)) {
            case 0: work().notices().report_problem("source", long_line); return "a problem";
            case 1: work().notices().note("export", long_line, {folder() / "kept.png"}); return "a note";
            case 2: lose(); return "a loss";
            case 3: work().actions().run("source.record"); return "record or stop";
            case 4: work().actions().run("notices.dismiss"); return "no notices";
            case 5: start_job(); return "a job";
            default: return "nothing";
        }
    }

    void lose() {
        if (work().viewer().live() == nullptr) return;
        LiveStats stats = work().viewer().live()->stats();
        stats.arrived.lost_blocks += 3;
        work().losses().follow(stats);
    }

    void start_job() {
        work().jobs().start("a job of half a second",
                            [](Progress& progress) -> Jobs::LastStep {
                                progress.begin("counting", 10, "things");
                                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                                return {};
                            },
                            {});
    }

    // Notices, progress, tooltips and hints have reserved places, in which their parts come and go.
    static bool is_fleeting(const std::string& name) {
        constexpr std::array beginnings{"notice", "job.", "tooltip", "measure.hint", "light[", "flow.bar", "file."};
        return std::ranges::any_of(beginnings, [&](const char* beginning) { return name.starts_with(beginning); });
    }

    void watch(const std::string& after) {
        turns(4);  // answers to the click
        const void* document = work().viewer().view_source();
        bool asks = work().question().has_value();
        Rectangles before = window().places();
        const double begin_s = native().now_s();
        while (native().now_s() < begin_s + 0.5) {
            window().turn(0.002);
            if (work().viewer().view_source() != document || work().question().has_value() != asks) {
                document = work().viewer().view_source();
                asks = work().question().has_value();
                turns(4);
                before = window().places();
            }
            for (const auto& [name, place] : window().places()) {
                const auto found = before.find(name);
                if (found == before.end() || is_fleeting(name)) continue;
                ++compared_;
                ASSERT_EQ(found->second, place) << name << " moved after " << after;
            }
        }
        if (below(3) == 0) press("Esc");
        if (asks) press("Esc");
    }

    std::mt19937_64 random_;
    std::int64_t compared_ = 0;
};

constexpr const char* all_panels =
    "window.open_panels=source,processing,flow,layers,statistics,log,view,transfer,measure,stabilise,filters,surfaces,"
    "export,operations,time";

TEST_F(RandomClicks, MoveNothingWithinHalfSecond) {
    options_.assignments.push_back("window.open_panels=flow,transfer,time,source,log");
    open_window();
    open_source("20000");
    ASSERT_TRUE(turn_until([this] { return live().is_running(); }));
    click_around(25, 1);
}

TEST_F(RandomClicks, SlowMoveNothingInAnyPanel) {
    for (const std::uint64_t seed : {2u, 3u, 4u}) {
        options_.assignments.push_back(all_panels);
        open_window(1280, seed == 4 ? 6000 : 800);  // high enough for all panels, or scrolled
        open_source("20000");
        ASSERT_TRUE(turn_until([this] { return live().is_running(); }));
        click_around(150, seed);
        TearDown();
    }
}

TEST_F(RandomClicks, SlowMoveNothingOverVolume) {
    options_.assignments.push_back(all_panels);
    open_window(1280, 6000);
    work().open(write_ball("ball.nrrd"));
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    click_around(150, 5);
}

}  // namespace
}  // namespace echolux::test
