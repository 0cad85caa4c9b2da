// Opening in the window: the clicked item shows its progress, a file gets its panels regardless of the previous
// document, and a recording is displayed as when it was recorded.
#include "app/viewer/view_source.h"
#include "ui/workspace/recordings.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class Opening : public WindowRun {
  protected:
    void open_live(const std::string& scene) {
        SourceRequest source;
        source.name = scene;
        source.assignments = {"simulation.samples=128", "simulation.a_scans=24", "simulation.b_scans=12",
                              "simulation.line_rate_hz=20000"};
        work().open_source(source);
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().viewer().live()->is_running(); }));
    }
};

TEST_F(Opening, SlowClickedCardShowsProgress) {
    open_window();
    click(middle_of("start.sim.retina"));
    ASSERT_TRUE(turn_until([this] { return work().opening("sim:retina") && work().opening("sim:retina")->total > 0; }));
    EXPECT_FALSE(work().opening("sim:layers").has_value());
    const std::uint64_t job = work().opening("sim:retina")->id;
    if (window().place_of("start.sim.retina")) click(middle_of("start.sim.retina"));
    const auto opening = work().opening("sim:retina");
    EXPECT_TRUE(!opening || opening->id == job) << "a second click begins nothing anew";
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    EXPECT_FALSE(work().opening("sim:retina").has_value());
}

TEST_F(Opening, FileHasItsPanelsAfterAlignmentView) {
    open_window();
    open_live("sim:vessel");
    work().change("window.layout", std::string("alignment"));
    ASSERT_TRUE(turn_until([this] { return window().place_of("alignment.hold").has_value(); }));
    EXPECT_FALSE(window().place_of("panel.view").has_value());
    work().open(write_ball("ball.nrrd"), {}, Replacing::at_once);
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().viewer().live() == nullptr; }));
    turns(5);
    EXPECT_TRUE(window().place_of("panel.view").has_value());
    EXPECT_TRUE(window().place_of(PaneKind::volume).has_value());
}

TEST_F(Opening, RecordingRestoresItsLook) {
    open_window();
    open_live("sim:vessel");
    work().change_together("view",
                           {{"view.mode", std::string("mip")}, {"view.azimuth_deg", 77.0}, {"view.high", 31.0}});
    work().recordings().start();
    ASSERT_TRUE(turn_until([this] {
        const auto written = work().viewer().live()->stats().recorder;
        return written && written->blocks > 20;
    }));
    work().recordings().stop();
    ASSERT_TRUE(turn_until([this] { return !work().viewer().live()->is_recording() && work().jobs().is_idle(); }));
    const std::filesystem::path recording = work().notices().all().back().file.path;
    ASSERT_FALSE(recording.empty());
    work().close(Replacing::at_once);
    work().change_together("view", {{"view.mode", std::string("composite")}, {"view.azimuth_deg", 5.0}});
    work().open(recording);
    ASSERT_TRUE(
        turn_until([this] { return work().viewer().live() != nullptr && work().viewer().live()->is_recorded(); }));
    EXPECT_EQ(work().view().mode, ViewMode::mip);
    EXPECT_EQ(work().view().azimuth_deg, 77);
    EXPECT_EQ(work().view().high, 31);
    EXPECT_EQ(open_scan(recording).geometry.samples, 128) << "to those who do not show it, it is a scan like others";
}

}  // namespace
}  // namespace echolux::test
