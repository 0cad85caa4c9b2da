// Files and series in the viewer, as the window uses it: they give the same pictures as the renderer with the same
// volumes.
#include "app/viewer/viewer.h"

#include <cstdlib>

#include "compute/plan/describe.h"
#include "viewer_fixture.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;
// ---- files ----------------------------------------------------------------------------------------------------------

// A ball of another size and higher brightness at each step.
Volume ball_volume(std::int64_t step) {
    Volume volume;
    volume.grid = db_grid(14, 12, 10, VoxelType::u8);
    volume.grid.quantity = volume.grid.unit = "";  // so that the voxels determine the colours
    const ValueAt shape = ball(volume.grid, 4 + static_cast<double>(step));
    const double brightness = 0.5 + 0.1 * static_cast<double>(step);
    volume.voxels = voxels(volume.grid, [&](auto z, auto a, auto b) { return brightness * shape(z, a, b); });
    return volume;
}

class FilesInViewer : public ViewerTest {
  protected:
    std::filesystem::path series(std::int64_t steps) {
        for (std::int64_t step = 0; step < steps; ++step) {
            write_volume(folder_ / ("t" + std::to_string(step) + ".nrrd"), ball_volume(step));
        }
        return folder_.path();
    }

    // The first step determines the colours.
    std::vector<std::uint8_t> expected(std::int64_t step) {
        const Volume first = ball_volume(0), volume = ball_volume(step);
        const auto chosen = fixed_range(*renderer().prepare(voxels_in_memory(first.grid, first.voxels.data()), {}));
        renderer().show(renderer().prepare(voxels_in_memory(volume.grid, volume.voxels.data()), chosen));
        return renderer().render(stage_view()).pixels;
    }
};

TEST_F(FilesInViewer, OpensVolumeFile) {
    write_volume(folder_ / "ball.nrrd", ball_volume(2));
    open(folder_ / "ball.nrrd");
    EXPECT_EQ(view_source().name(), "ball.nrrd");
    EXPECT_EQ(view_source().backend_description(), "");
    EXPECT_EQ(view_source().timeline(), nullptr);
    EXPECT_EQ(view_source().live(), nullptr);
    EXPECT_EQ(view_source().grid()->a_scans, 12);
    EXPECT_TRUE(view_source().volume()->voxels == ball_volume(2).voxels);
    const Volume alone = ball_volume(2);
    renderer().set_volume(alone.grid, alone.voxels.data());
    EXPECT_TRUE(view_source().still(stage_view()).pixels == renderer().render(stage_view()).pixels);
    const Image picture = followed();
    EXPECT_EQ(picture.width, 48);
    EXPECT_EQ(picture.height, 40);
    EXPECT_TRUE(view_source().probe(stage_view(), 24, 20));
}

TEST_F(FilesInViewer, SlowLargeFileIsShownInPages) {
    make_stage({.edge = 8, .page_edge = 4});
    write_volume(folder_ / "ball.nrrd", ball_volume(2));
    open(folder_ / "ball.nrrd");
    EXPECT_TRUE(viewer_->renderer().is_in_pages());
    EXPECT_EQ(followed().width, 48);
    EXPECT_GT(view_source().still(stage_view()).pages.needed, 0);
}

TEST_F(FilesInViewer, SeriesPlaysItsStepsInOrder) {
    open(series(5));
    Timeline& line = *view_source().timeline();
    EXPECT_EQ(line.steps(), 5);
    turn_until_shown(0);
    turn_until([&] { return view_source().ready_steps().front().end == 5; });
    line.play(now_s_);
    for (const std::int64_t step : {1, 2, 3, 4, 0, 1}) {
        now_s_ += 0.1001;
        turn_until_shown(step);
        EXPECT_TRUE(view_source().still(stage_view()).pixels == expected(step)) << "step " << step;
    }
    EXPECT_EQ(line.left_out(), 0);
    line.step_by(-1);
    turn_until_shown(0);
    EXPECT_TRUE(view_source().volume()->voxels == ball_volume(0).voxels);
}

// The device has room for two steps in addition to the displayed one.
TEST_F(FilesInViewer, SeriesPlaysWithLittleGraphicsMemory) {
    const std::int64_t bytes = ball_volume(0).grid.bytes();
    open(series(9), {}, {.bytes = 3 * bytes, .gpu_bytes = 2 * bytes});
    Timeline& line = *view_source().timeline();
    turn_until_shown(0);
    line.play(now_s_);
    for (std::int64_t turn = 1; turn < 20; ++turn) {
        now_s_ += 0.1001;
        turn_until_shown(turn % 9);
        EXPECT_FALSE(view_source().loading());
        EXPECT_TRUE(view_source().volume()->voxels == ball_volume(turn % 9).voxels) << "turn " << turn;
        if (turn % 6 == 0) {
            EXPECT_TRUE(view_source().still(stage_view()).pixels == expected(turn % 9));
        }
    }
    EXPECT_EQ(line.left_out(), 0);
}

// A requested step is displayed when it is loaded. Until then the previous one stays and loading is reported.
TEST_F(FilesInViewer, ReportsLoadingStep) {
    open(series(5), {}, {.bytes = 0, .gpu_bytes = 0});
    turn_until_shown(0);
    view_source().timeline()->go_to(3);
    ASSERT_TRUE(view_source().loading());
    EXPECT_EQ(view_source().loading()->step, 3);
    EXPECT_EQ(view_source().timeline()->shown(), 0);
    turn_until_shown(3);
    EXPECT_FALSE(view_source().loading());
}

// They are read box by box, and the picture is the same.
TEST_F(FilesInViewer, VolumesLargerThanMemoryAreShownInPages) {
    make_stage({.edge = 8, .page_edge = 4});
    const Volume volume = ball_volume(1);
    write_volume(folder_ / "ball.ome.zarr", volume);
    const auto seen = [&](const SeriesBudget& budget) {
        open(folder_ / "ball.ome.zarr", {}, budget);
        turn_until([&] { return view_source().grid() == volume.grid && !view_source().loading(); });
        EXPECT_TRUE(viewer_->renderer().is_in_pages());
        return view_source().still(stage_view()).pixels;
    };
    EXPECT_TRUE(seen({.bytes = volume.grid.bytes() - 1}) == seen({}));
}

// This holds for steps that are loaded at once or box by box, with or without a coarse picture first.
TEST_F(FilesInViewer, KeepsColoursThroughPagedSeries) {
    make_stage({.edge = 8, .page_edge = 4});
    View own = stage_view();
    own.range = RangeSource::percentile;
    const auto range = [&](const View& view) {
        const ValueRange of = viewer_->renderer().transfer_function(view).range;
        return std::pair(of.low, of.high);
    };
    for (const char* name : {"t.ome.zarr", "t.nii"}) {
        SeriesWriter writer(folder_ / name, {.grid = ball_volume(0).grid, .time_points = 3});
        for (std::int64_t step = 0; step < 3; ++step) writer.write(ball_volume(step).voxels);
        writer.finish();
        for (const std::int64_t budget : {ball_volume(0).grid.bytes() - 1, INT64_MAX}) {
            open(folder_ / name, {}, {.bytes = budget});
            turn_until_shown(0);
            const auto first = range(stage_view());
            EXPECT_EQ(range(own), first);
            for (const std::int64_t step : {1, 2}) {
                view_source().timeline()->go_to(step);
                turn_until_shown(step);
                EXPECT_TRUE(viewer_->renderer().is_in_pages());
                EXPECT_EQ(range(stage_view()), first) << name << ", step " << step << ", budget " << budget;
                EXPECT_NE(range(own), first);
            }
        }
    }
}

// Memory for two steps only; one of the files is damaged.
TEST_F(FilesInViewer, ReportsAndSkipsDamagedStep) {
    const auto place = series(5);
    folder_.write("t2.nrrd", "NRRD0004\nnothing\n");
    open(place, {}, {.bytes = 2 * ball_volume(0).grid.bytes()});
    Timeline& line = *view_source().timeline();
    line.play(now_s_);
    for (const std::int64_t step : {1, 3, 4, 0, 1}) {
        line.go_to(step);
        turn_until_shown(step);
    }
    line.pause();
    line.go_to(2);
    std::vector<std::string> problems;
    turn_until([&] {
        for (const std::string& line_heard : view_source().take_problems()) problems.push_back(line_heard);
        return !problems.empty();
    });
    EXPECT_THAT(problems, testing::ElementsAre(HasSubstr("t2.nrrd")));
    EXPECT_EQ(line.shown(), 1) << "the picture stays";
}

TEST_F(FilesInViewer, PlaysAllStepsOfRealSeriesInOrder) {
    const char* place = std::getenv("ECHOLUX_DATA");
    if (place == nullptr) GTEST_SKIP() << "ECHOLUX_DATA is not set: no real series is played";
    open(std::filesystem::path(place) / "volumes/fmri_4d.nii.gz");
    Timeline& line = *view_source().timeline();
    ASSERT_EQ(line.steps(), 64);
    turn_until_shown(0);
    line.play(now_s_);
    for (std::int64_t step = 1; step < 64; ++step) {
        now_s_ += line.step_s();
        turn_until([&] { return line.shown() != step - 1; });
        EXPECT_EQ(line.shown(), step);
    }
    EXPECT_EQ(line.left_out(), 0);
}

TEST_F(FilesInViewer, BadFilesAreRefusedClearly) {
    folder_.write("broken.nii", "no volume");
    folder_.write("scan.toml", "[scan]\nsamples = 0\n");
    write_volume(folder_ / "ball.nrrd", ball_volume(0));
    EXPECT_THAT(refusal(folder_ / "missing.nrrd"), HasSubstr("missing.nrrd: does not exist"));
    EXPECT_THAT(refusal(folder_ / "broken.nii"), HasSubstr("broken.nii"));
    EXPECT_THAT(refusal(folder_ / "scan.toml"), HasSubstr("scan.toml"));
    EXPECT_THAT(refusal(folder_ / "ball.nrrd", {"recipe.window=rect"}), HasSubstr("recipe.window=rect"));
    std::filesystem::create_directory(folder_ / "empty");
    EXPECT_THAT(refusal(folder_ / "empty"), HasSubstr("contains no volume files"));
}

TEST_F(FilesInViewer, ReleasesShownVolumeFirst) {
    write_volume(folder_ / "ball.nrrd", ball_volume(0));
    open(folder_ / "ball.nrrd");
    const auto refuses = [](Renderer&) -> std::unique_ptr<ViewSource> {
        throw Error(ErrorCode::out_of_memory, "is too large", "test");
    };
    EXPECT_THROW(viewer_->show(refuses), Error);
    EXPECT_EQ(viewer_->view_source(), nullptr);
    EXPECT_THROW(viewer_->renderer().render(stage_view()), Error) << "its volume is let go of";
    open(folder_ / "ball.nrrd");
    viewer_->clear();
    EXPECT_EQ(viewer_->view_source(), nullptr);
}

TEST_F(FilesInViewer, RestoresStepAfterDeviceLoss) {
    open(series(3));
    view_source().timeline()->go_to(2);
    turn_until_shown(2);
    lose_the_device();
    EXPECT_EQ(error_of([&] { viewer_->revive(); }).code, ErrorCode::device) << "it is lost still";
    lost_ = false;
    viewer_->revive();
    turn_until_shown(2);
    EXPECT_TRUE(view_source().volume()->voxels == ball_volume(2).voxels);
    EXPECT_EQ(followed().width, 48);
}

}  // namespace
}  // namespace echolux::test
