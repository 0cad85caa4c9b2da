// Recorded scans and live sources in the viewer, as the window uses them: the display equals a reconstruction of the
// same spectra with the same settings.
#include <cmath>
#include <cstring>
#include <fstream>

#include "app/viewer/view_source.h"
#include "app/viewer/viewer.h"
#include "compute/indexing.h"
#include "engine/offline/reconstruction.h"
#include "small_scan.h"
#include "tests/support/set_fields.h"
#include "viewer_fixture.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t volumes = 3;

class ScansInViewer : public ViewerTest {
  protected:
    ScansInViewer() {
        std::ofstream raw(folder_ / "noise.raw", std::ios::binary);
        for (std::int64_t volume = 0; volume < volumes; ++volume) {
            const auto samples = noise_spectra(plan_, volume);
            raw.write(reinterpret_cast<const char*>(samples.data()), static_cast<std::streamsize>(samples.size() * 2));
        }
        folder_.write("noise.toml", R"([scan]
file = "noise.raw"
samples = 64
a_scans = 13
b_scans = 6
volumes = 3
line_rate_hz = 780

[recipe]
voxel = "u8"
background = "none"
noise_floor_db = 20
low = 0
high = 60
)");
    }

    void open_scan_in_viewer(const std::vector<std::string>& assignments = {}) {
        open(folder_ / "noise.toml", assignments);
        turn_until_there();
    }

    std::vector<std::byte> expected(const ReconstructionSpec& plan, std::int64_t volume) const {
        return voxels_in_memory(plan, noise_spectra(plan_, volume));
    }
    void turn_until_voxels_are(const std::vector<std::byte>& voxels) {
        turn_until([&] {
            const std::shared_ptr<const Volume> volume = view_source().volume();
            return volume && volume->voxels == voxels;
        });
    }

    // The scan with a change as the workspace would make it.
    Scan changed(const std::function<void(Scan&)>& edit) {
        Scan scan = view_source().live()->scan();
        edit(scan);
        return scan;
    }

    ReconstructionSpec plan_ = noise_spec(64, 13, 6);
};

TEST_F(ScansInViewer, ReconstructsScanAndStepsThroughVolumes) {
    open_scan_in_viewer();
    EXPECT_EQ(view_source().name(), "noise.toml");
    EXPECT_THAT(view_source().backend_description(), HasSubstr("cpu ("));
    ASSERT_NE(view_source().live(), nullptr);
    EXPECT_TRUE(view_source().live()->is_recorded());
    Timeline& line = *view_source().timeline();
    EXPECT_EQ(line.steps(), volumes);
    EXPECT_NEAR(line.step_s(), 0.1, 1e-12);
    for (const std::int64_t step : {0, 2, 1, 0}) {
        line.go_to(step);
        turn_until_shown(step);
        const Volume volume = *view_source().volume();
        EXPECT_TRUE(volume.voxels == expected(plan_, step)) << "step " << step;
        EXPECT_EQ(volume.provenance.at("volume"), std::to_string(step));
        EXPECT_EQ(volume.provenance.at("recipe.noise_floor_db"), "20.0");
    }
    EXPECT_EQ(followed().width, 48);
    EXPECT_EQ(view_source().still(stage_view()).height, 40);
}

// Equals the renderer's picture of the same voxels.
TEST_F(ScansInViewer, SavedPictureHasFullQuality) {
    open_scan_in_viewer();
    View view = with(stage_view(), "low=0 high=60");
    for (const std::int64_t samples : {1, 4}) {
        view.samples = samples;
        renderer().set_volume(*view_source().grid(), expected(plan_, 0).data());
        EXPECT_TRUE(view_source().still(view).pixels == renderer().render(view).pixels) << samples << " samples";
    }
    turn_until_voxels_are(expected(plan_, 0));  // the ring still works
}

TEST_F(ScansInViewer, AScanPlaysByTimeLine) {
    open_scan_in_viewer();
    Timeline& line = *view_source().timeline();
    turn_until_shown(0);
    line.play(now_s_);
    for (const std::int64_t step : {1, 2, 0, 1}) {
        now_s_ += 0.1001;
        turn_until_shown(step);
        EXPECT_TRUE(view_source().volume()->voxels == expected(plan_, step)) << "step " << step;
    }
    EXPECT_EQ(line.left_out(), 0);
}

TEST_F(ScansInViewer, ChangedSettingReprocessesShownVolume) {
    open_scan_in_viewer();
    view_source().timeline()->go_to(1);
    turn_until_shown(1);
    const Image before = followed();
    view_source().live()->look_at(3);
    ReconstructionSpec plan = plan_;
    plan.recipe.window = Window::rect;
    view_source().live()->change(changed([](Scan& scan) { scan.recipe.window = Window::rect; }));
    turn_until_voxels_are(expected(plan, 1));
    EXPECT_NE(followed().pixels, before.pixels);
    plan.recipe.high = 90;  // changes the meaning of the voxels, which needs a new ring
    view_source().live()->change(changed([](Scan& scan) { set(scan, "window=rect high=90"); }));
    turn_until_voxels_are(expected(plan, 1));
    turn_until([&] { return std::abs(view_source().grid()->scale - 90.0 / 255) < 1e-9; });
}

TEST_F(ScansInViewer, RejectsInvalidSettingsWithoutChange) {
    open_scan_in_viewer();
    const auto impossible = changed([](Scan& scan) { scan.recipe.depth_begin = 1000; });
    EXPECT_EQ(error_of([&] { view_source().live()->change(impossible); }).code, ErrorCode::bad_setting);
    EXPECT_EQ(error_of([&] { view_source().live()->recording_of_now(folder_ / "copy.toml", ""); }).code,
              ErrorCode::bad_setting);
    EXPECT_TRUE(view_source().volume()->voxels == expected(plan_, 0));
}

// An open noise floor is the one that `reconstruct` measures, also after a change.
TEST_F(ScansInViewer, OpenNoiseFloorIsMeasured) {
    open_scan_in_viewer({"recipe.noise_floor_db=0"});
    const auto measured = [&](Window window) {
        Scan scan = changed([&](Scan& one) { one.recipe.window = window; });
        return noise_floor_of(scan);
    };
    // Empty while a new ring has no volume.
    const auto stated = [&]() -> std::optional<double> {
        const std::shared_ptr<const Volume> volume = view_source().volume();
        if (!volume) return std::nullopt;
        return std::stod(volume->provenance.at("recipe.noise_floor_db"));
    };
    EXPECT_NEAR(stated().value(), measured(Window::hann), 1e-9);
    ASSERT_NE(measured(Window::hann), measured(Window::blackman));
    view_source().live()->change(changed([](Scan& scan) { scan.recipe.window = Window::blackman; }));
    turn_until([&] {
        const std::optional<double> now = stated();
        return now && *now != measured(Window::hann);
    });
    EXPECT_NEAR(stated().value(), measured(Window::blackman), 1e-9);
}

TEST_F(ScansInViewer, RecipeWithFlowHasFlowGrid) {
    open_scan_in_viewer();
    EXPECT_FALSE(view_source().flow_grid());
    view_source().live()->change(changed([](Scan& scan) { scan.flow.method = FlowMethod::power_doppler; }));
    turn_until([&] { return view_source().flow_grid().has_value(); });
    EXPECT_EQ(view_source().flow_grid()->a_scans, 13);
    view_source().live()->change(changed([](Scan&) {}));
    turn_until([&] { return !view_source().flow_grid(); });
}

TEST_F(ScansInViewer, SharesNewestBlock) {
    open_scan_in_viewer();
    const Block block = view_source().live()->newest_block().value();
    const auto samples = noise_spectra(plan_, 0);
    EXPECT_EQ(std::memcmp(block.data, samples.data(), index(block.bytes)), 0);
}

TEST_F(ScansInViewer, RestoresSettingsAfterDeviceLoss) {
    open_scan_in_viewer();
    view_source().timeline()->go_to(2);
    turn_until_shown(2);
    ReconstructionSpec plan = plan_;
    plan.recipe.window = Window::rect;
    view_source().live()->change(changed([](Scan& scan) { scan.recipe.window = Window::rect; }));
    turn_until_voxels_are(expected(plan, 2));
    lose_the_device();
    lost_ = false;
    viewer_->revive();
    turn_until_there();
    turn_until_voxels_are(expected(plan, 2));
    turn_until_shown(2);
}

TEST_F(ScansInViewer, ComplexVoxelsAreRefused) {
    EXPECT_THAT(refusal(folder_ / "noise.toml", {"recipe.quantity=complex"}), HasSubstr("cannot show complex voxels"));
}

// ---- live -----------------------------------------------------------------------------------------------------------

class LiveInViewer : public ViewerTest {
  protected:
    void open_simulator() {
        SourceRequest wanted;
        wanted.name = "sim:layers";
        wanted.assignments = {"simulation.samples=128", "simulation.a_scans=12", "simulation.b_scans=8",
                              "simulation.volumes=2"};
        wanted.settings.line_rate_hz = 2000;
        SilentProgress progress;
        viewer_->show(open_live_source(wanted, on_cpu, progress));
        live().start();
        turn_until_there();
    }
    LiveController& live() { return *view_source().live(); }
    void turn_until_arrived(std::int64_t more) {
        const std::int64_t before = live().stats().arrived.volumes;
        turn_until([&] { return live().stats().arrived.volumes >= before + more; });
    }
};

TEST_F(LiveInViewer, SimulatorRunsStopsAndStartsAgain) {
    open_simulator();
    EXPECT_EQ(view_source().name(), "simulator (layers)");
    EXPECT_EQ(view_source().timeline(), nullptr);
    EXPECT_FALSE(live().is_recorded());
    EXPECT_TRUE(live().is_running());
    turn_until_arrived(3);
    live().stop();
    EXPECT_FALSE(live().is_running());
    const std::int64_t arrived = live().stats().arrived.volumes;
    EXPECT_EQ(followed().width, 48) << "what came last stays";
    EXPECT_EQ(live().stats().arrived.volumes, arrived);
    live().start();
    turn_until_arrived(2);
    turn_until([&] { return live().stats().shown.count() > 0; });
}

TEST_F(LiveInViewer, RecordsSource) {
    open_simulator();
    EXPECT_FALSE(live().is_recording());
    live().record(live().recording_of_now(folder_ / "rec.toml", ""));
    EXPECT_TRUE(live().is_recording());
    turn_until_arrived(3);
    const RecorderStats stats = live().stop_recording();
    EXPECT_FALSE(live().is_recording());
    EXPECT_GT(stats.blocks, 0);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "rec.truth"));
    open(folder_ / "rec.toml");
    turn_until_there();
    EXPECT_TRUE(view_source().live()->is_recorded());
}

// Acquisition and recording are not affected.
TEST_F(LiveInViewer, RecordingContinuesDuringDeviceLoss) {
    open_simulator();
    live().record(live().recording_of_now(folder_ / "rec.toml", ""));
    turn_until_arrived(1);
    lose_the_device();
    lost_ = false;
    const std::int64_t before = live().stats().recorder->blocks;
    viewer_->revive();
    turn_until_there();
    turn_until([&] { return live().stats().recorder->blocks > before + 4; });
    EXPECT_TRUE(live().is_recording());
    EXPECT_EQ(live().stats().reconnections, 0);
    EXPECT_GT(live().stop_recording().blocks, before + 4);
}

TEST_F(LiveInViewer, RestoresLastVolumeAfterDeviceLoss) {
    open_simulator();
    turn_until_arrived(2);
    live().stop();
    lose_the_device();
    lost_ = false;
    viewer_->revive();
    EXPECT_FALSE(view_source().grid());
    turn_until_there();
    EXPECT_FALSE(live().is_running());
}

TEST_F(LiveInViewer, SettingChangesWhileStopped) {
    open_simulator();
    turn_until_arrived(2);
    live().stop();
    const auto before = view_source().volume()->voxels;
    Scan scan = live().scan();
    scan.recipe.window = scan.recipe.window == Window::rect ? Window::hann : Window::rect;
    live().change(scan);
    turn_until([&] {
        const std::shared_ptr<const Volume> now = view_source().volume();
        return now && now->voxels != before;
    });
}

TEST_F(LiveInViewer, RejectsMissingSource) {
    SilentProgress progress;
    const auto open_wrong = [&] {
        SourceRequest wanted;
        wanted.name = "plugin:/nowhere/there.so";
        viewer_->show(open_live_source(wanted, on_cpu, progress));
    };
    EXPECT_THAT(error_of(open_wrong).line, HasSubstr("there.so"));
    EXPECT_EQ(viewer_->view_source(), nullptr);
}

}  // namespace
}  // namespace echolux::test
