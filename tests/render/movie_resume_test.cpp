// Movies that were interrupted and resumed have the same bits as uninterrupted ones. Motion blur is compared with the
// mean of light.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/movie/movie_encoding.h"
#include "app/movie/movie_job.h"
#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"
#include "rendering.h"
#include "tests/unit/await.h"
#include "tests/unit/temporary_folder.h"

namespace echolux::test {
namespace {

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Cancels `job` after a number of steps, when most of the drawn pictures are written.
class Interrupted : public Progress {
  public:
    Interrupted(const MovieJob& job, std::int64_t after)
        : folder_(kept_pictures(job).parent_path()), enough_(after - 2), left_(after) {}
    void begin(const std::string&, std::int64_t, const std::string&) override {}
    void advance(std::int64_t done) override {
        if ((left_ -= done) >= 0) return;
        AWAIT(written() >= enough_);
        throw Error(ErrorCode::cancelled, "cancelled", "test", "");
    }
    void end() override {}

  private:
    std::int64_t written() const {
        return std::ranges::count_if(std::filesystem::directory_iterator(folder_), [](const auto& entry) {
            const std::filesystem::path name = entry.path().filename();
            return name.extension() == ".png" && !name.string().starts_with("unfinished");
        });
    }

    std::filesystem::path folder_;
    std::int64_t enough_, left_;
};

class ResumedMovies : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const VolumeGrid grid = db_grid(14, 12, 10, VoxelType::u8);
        write_volume(folder_ / "v.nrrd", {grid, voxels(grid, ball(grid, 6)), {}});
        job_.input = folder_ / "v.nrrd";
        job_.view.width = 47;
        job_.view.height = 40;
        job_.spec.frames = 9;
        job_.may_use_hardware = false;
    }

    void make(const std::string& name, bool resumes, std::int64_t interrupted_after = -1) {
        job_.output = folder_ / name;
        job_.spec.resumes = resumes;
        if (interrupted_after >= 0) {
            Interrupted progress(job_, interrupted_after);
            EXPECT_THROW(run(job_, progress), Error);
        }
        SilentProgress progress;
        const MovieResult made = run(job_, progress);
        EXPECT_EQ(made.frames, 9);
    }

    TemporaryFolder folder_;
    MovieJob job_;
};

// Uses GIF because x264 may encode the same pictures to different bits if its process is busy.
TEST_F(ResumedMovies, SlowEqualUninterruptedMovie) {
    make("whole.gif", false);
    make("resumed.gif", true, 4);
    EXPECT_TRUE(bytes_of(folder_ / "resumed.gif") == bytes_of(folder_ / "whole.gif"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "resumed.gif.pictures"));
    job_.view.mode = ViewMode::traced;
    job_.view.paths = 4;
    job_.view.shutter = 0.5;
    job_.view.shutter_pictures = 2;
    std::filesystem::create_directory(folder_ / "a");
    std::filesystem::create_directory(folder_ / "b");
    make("a/p%03d.png", false);
    make("b/p%03d.png", true, 3);
    for (int i = 0; i < 9; ++i) {
        const std::string name = "p00" + std::to_string(i) + ".png";
        EXPECT_EQ(read_png(folder_ / "a" / name).pixels, read_png(folder_ / "b" / name).pixels) << i;
    }
    EXPECT_FALSE(std::filesystem::exists(note_of(folder_ / "b/p%03d.png")));
}

// Existing pictures are not drawn again, and are only used if they belong to this movie.
TEST_F(ResumedMovies, ReuseOnlyPicturesOfSameMovie) {
    job_.output = folder_ / "p%03d.png";
    job_.spec.resumes = true;
    Interrupted progress(job_, 5);
    EXPECT_THROW(run(job_, progress), Error);
    ASSERT_TRUE(std::filesystem::exists(folder_ / "p002.png"));
    const auto written = std::filesystem::last_write_time(folder_ / "p002.png");
    job_.view.zoom = 2;
    SilentProgress silent;
    EXPECT_THROW(run(job_, silent), Error);
    job_.view.zoom = 1;
    run(job_, silent);
    EXPECT_EQ(std::filesystem::last_write_time(folder_ / "p002.png"), written);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "p008.png"));
}

Image gray_image(std::uint8_t code, std::uint8_t alpha) {
    return {.width = 1, .height = 1, .pixels = {code, code, code, alpha}};
}

TEST(Exposures, AverageLight) {
    Exposure still;
    for (int i = 0; i < 7; ++i) still.add(gray_image(137, 201));
    EXPECT_EQ(still.image().pixels, gray_image(137, 201).pixels);
    Exposure black_and_white;
    black_and_white.add(gray_image(0, 255));
    black_and_white.add(gray_image(255, 255));
    EXPECT_EQ(black_and_white.image().pixels, gray_image(188, 255).pixels);  // half of the light
    Exposure half_there;
    half_there.add(gray_image(90, 255));
    half_there.add(gray_image(200, 0));
    EXPECT_EQ(half_there.image().pixels, gray_image(90, 128).pixels);
}

TEST(Exposures, SpreadEvenlyOverShutter) {
    Studio studio;
    EXPECT_EQ(moments_of_exposure(studio), std::vector<double>{0});
    studio.shutter = 0.5;
    studio.shutter_pictures = 4;
    EXPECT_EQ(moments_of_exposure(studio), (std::vector<double>{0.0625, 0.1875, 0.3125, 0.4375}));
}

}  // namespace
}  // namespace echolux::test
