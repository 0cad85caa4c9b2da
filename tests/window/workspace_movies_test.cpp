// Movies rendered while the window is in use: of a volume in memory, of a series by its file, of the current state of
// an instrument. Impossible requests are reported, and the window keeps working.
#include "app/movie/movie_plan.h"
#include "engine/io/png_file.h"
#include "ui/workspace/exporting.h"
#include "workspace_fixture.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class WorkspaceMovies : public test::WorkspaceTest {
  protected:
    void make_movie(const std::string& name, const MovieSpec& spec) {
        for (const char* side : {"view.width", "view.height"}) work().change(side, std::int64_t{32});
        work().exporting().make_movie(folder() / name, spec);
        settle();
    }
};

TEST_F(WorkspaceMovies, ShowCurrentViewAndVolume) {
    open_volume();
    make_movie("turn/", {.frames = 3});
    EXPECT_EQ(troubles(), "");
    std::vector<std::vector<std::uint8_t>> pictures;
    for (const char* name : {"frame_0000.png", "frame_0001.png", "frame_0002.png"}) {
        const Picture picture = read_png(folder() / "turn" / name);
        EXPECT_EQ(picture.width, 32);
        EXPECT_THAT(pictures, testing::Not(testing::Contains(picture.pixels)));
        pictures.push_back(picture.pixels);
    }
    EXPECT_FALSE(std::filesystem::exists(folder() / "turn/frame_0003.png"));
}

TEST_F(WorkspaceMovies, WorkWhileInstrumentRuns) {
    open_source();
    ASSERT_TRUE(until([this] { return work().viewer().view_source()->grid().has_value(); }));
    make_movie("now_%d.png", {.path = "sweep", .frames = 2});
    EXPECT_EQ(standing("export"), "");
    EXPECT_TRUE(std::filesystem::exists(folder() / "now_1.png"));
    make_movie("time_%d.png", {.path = "time", .frames = 2});
    EXPECT_THAT(standing("export"), HasSubstr("record it"));
}

TEST_F(WorkspaceMovies, InvalidRequestsAreReportedAtOnce) {
    work().exporting().make_movie(folder() / "m.mp4", {});
    EXPECT_THAT(standing("export"), HasSubstr("nothing"));
    open_volume();
    work().exporting().make_movie(folder() / "m.avi", {});
    EXPECT_THAT(standing("export"), HasSubstr(".mp4"));
    work().exporting().make_movie(folder() / "m.mp4", {.path = "spiral"});
    EXPECT_THAT(standing("export"), HasSubstr("spiral"));
    EXPECT_FALSE(work().is_busy());
    make_movie("m_%d.png", {.path = "time"});
    EXPECT_THAT(standing("export"), HasSubstr("time needs several volumes"));
}

}  // namespace
}  // namespace echolux
