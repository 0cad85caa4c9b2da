// Pictures, figures and tables saved while the window is in use: jobs can be cancelled, files describe how they were
// made, and the command line's job reproduces the same bits.
#include "engine/io/picture_file.h"
#include "engine/io/png_file.h"
#include "run_operation.h"
#include "ui/workspace/exporting.h"
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

class WorkspacePictures : public WorkspaceTest {
  protected:
    void open_small() {
        open_volume();
        work().change("view.width", std::int64_t{64});
        work().change("view.height", std::int64_t{48});
        work().change("view.rest_samples", std::int64_t{3});
        work().change("view.azimuth_deg", 33.5);
    }

    std::string text_of(const std::string& name) {
        std::ifstream stream(folder() / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    // Returns whether the picture can be made again with the same pixels.
    bool made_again(const std::string& name) {
        const auto again = run_operation("reproduce", {"picture=" + (folder() / name).string(),
                                                       "output=" + (folder() / ("again-" + name)).string()});
        return std::get<bool>(again->result("same"));
    }
};

TEST_F(WorkspacePictures, EachIsReproducedBitForBitAndRestoresItsView) {
    open_small();
    work().exporting().save_picture(folder() / "small.png", PictureBits::eight);
    work().exporting().save_picture(folder() / "fine.tif", PictureBits::sixteen);
    settle();
    ASSERT_EQ(standing("export"), "");
    for (const char* name : {"small.png", "fine.tif"}) {
        EXPECT_THAT(picture_texts(folder() / name).at(text_session), HasSubstr("samples = 3"));
        EXPECT_TRUE(made_again(name)) << name;
    }
    const auto reproduce = operation_named("reproduce").make();
    reproduce->set_text("picture", (folder() / "small.png").string());
    EXPECT_THAT(reproduce->files_to_read(), testing::Contains(volume_file())) << "remote clients may not read any file";
    work().close();
    work().change("view.azimuth_deg", 0.0);
    work().open(folder() / "fine.tif");
    settle();
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    EXPECT_EQ(work().view().azimuth_deg, 33.5);
}

// Later time points use the value range of the first. The picture stores the range so that the colours can be
// reproduced.
TEST_F(WorkspacePictures, LaterTimePointsKeepTheirColours) {
    VolumeGrid grid = read_volume(volume_file()).grid;
    grid.quantity = grid.unit = "";
    SeriesWriter writer(folder() / "t.nii", {.grid = grid, .time_points = 3});
    for (const float brightness : {0.5F, 0.7F, 1.0F}) {
        std::vector<float> voxels;
        for (std::int64_t i = 0; i < grid.voxels(); ++i) voxels.push_back(brightness * static_cast<float>(i % 97));
        writer.write(std::as_bytes(std::span(voxels)));
    }
    writer.finish();
    work().open(folder() / "t.nii");
    settle();
    work().change("view.width", std::int64_t{64});
    work().change("view.height", std::int64_t{48});
    work().viewer().view_source()->timeline()->go_to(2);
    ASSERT_TRUE(until(work(), [&] { return work().viewer().view_source()->timeline()->shown() == 2; }));
    work().exporting().save_picture(folder() / "small.png", PictureBits::eight);
    work().exporting().save_picture(folder() / "fine.tif", PictureBits::sixteen);
    settle();
    ASSERT_EQ(standing("export"), "");
    for (const char* name : {"small.png", "fine.tif"}) {
        EXPECT_THAT(picture_texts(folder() / name).at(text_session), HasSubstr("\nrange = ["));
        EXPECT_TRUE(made_again(name)) << name;
    }
}

// A picture larger than any pane is rendered by a job, so that the window's turns do not wait for it.
TEST_F(WorkspacePictures, LargePictureCanBeCancelled) {
    open_small();
    work().change("view.width", std::int64_t{16384});
    work().change("view.height", std::int64_t{16384});
    work().exporting().save_picture(folder() / "large.png", PictureBits::eight);
    ASSERT_FALSE(work().jobs().is_idle());
    turn(work());
    EXPECT_TRUE(work().is_busy());
    work().jobs().cancel_all();
    settle();
    EXPECT_FALSE(std::filesystem::exists(folder() / "large.png"));
    EXPECT_EQ(standing("export"), "");
}

TEST_F(WorkspacePictures, FiguresAndTablesFollowCross) {
    open_small();
    work().set_cross_um({0, 45, -25});  // A-scan 14, B-scan 5
    FigureContent content{.layout = parsed_layout("volume+bscan/enface"), .b_scan = {}, .en_face = {2, 20}};
    FigureStyle style;
    style.dpi = 72;
    work().exporting().save_figure(folder() / "f.png", content, style);
    content.layout = parsed_layout("bscan/enface");
    for (const char* name : {"f.pdf", "f.svg"}) work().exporting().save_figure(folder() / name, content, style);
    work().exporting().save_table(folder() / "a.csv", Exporting::TableKind::a_scan);
    work().exporting().save_table(folder() / "e.csv", Exporting::TableKind::echoes);
    settle();
    ASSERT_EQ(standing("export"), "");
    EXPECT_TRUE(text_of("f.pdf").starts_with("%PDF-"));
    EXPECT_THAT(text_of("f.svg"), HasSubstr("<svg"));
    EXPECT_EQ(read_png(folder() / "f.png").width, 482);  // 170 mm
    EXPECT_THAT(text_of("a.csv"), HasSubstr("depth_um,value (dB above noise floor)\n0,"));
    // 40 - 4 |(z, a, b) - centre| at z = 0.
    const double first = 40 - 4 * std::hypot(11.5, 14 - 9.5, 5 - 7.5);
    EXPECT_NEAR(std::stod(text_of("a.csv").substr(text_of("a.csv").find("\n0,") + 3)), first, 1e-4);
    EXPECT_EQ(std::ranges::count(text_of("e.csv"), '\n'), 1 + 20);
    EXPECT_THAT(text_of("e.csv"), HasSubstr("\n5,14,"));
}

TEST_F(WorkspacePictures, OpensPictureOfCommandLineAndReportsFailedSaves) {
    work().exporting().save_figure(folder() / "f.pdf", {}, {});
    EXPECT_THAT(standing("export"), HasSubstr("f.pdf"));
    RenderJob job;
    job.input = volume_file();
    job.output = folder() / "line.png";
    job.view.width = job.view.height = 32;
    job.view.elevation_deg = 21;
    SilentProgress silent;
    run(job, silent);
    work().open(job.output);
    settle();
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    EXPECT_EQ(work().view().elevation_deg, 21);
    work().exporting().save_figure(folder() / "f.doc", {}, {});
    EXPECT_THAT(standing("export"), HasSubstr("*.pdf"));
    work().exporting().save_table(folder() / "t.xls", Exporting::TableKind::a_scan);
    settle();
    EXPECT_THAT(standing("export"), HasSubstr("*.csv"));
}

}  // namespace
}  // namespace echolux::test
