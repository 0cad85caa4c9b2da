// Movies frame by frame: each frame equals the renderer's picture of the same volume, also after resuming.
#include "app/movie/movie_job.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/movie/movie_encoding.h"
#include "compute/indexing.h"
#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"
#include "rendering.h"
#include "tests/unit/await.h"
#include "tests/unit/run_operation.h"
#include "tests/unit/temporary_folder.h"

namespace echolux::test {
namespace {

View small_view() {
    return sized_view(48, 40);
}

// Volumes of increasing brightness. Their quantity is unknown, so that the voxels determine the colours.
Volume moment(std::int64_t step) {
    Volume volume;
    volume.grid = db_grid(14, 12, 10, VoxelType::u8);
    volume.grid.quantity = volume.grid.unit = "";
    const double brightness = 0.4 + 0.2 * static_cast<double>(step);
    volume.voxels =
        voxels(volume.grid, [&, shape = ball(volume.grid, 6)](auto... at) { return brightness * shape(at...); });
    return volume;
}

// Stores the pictures; the disk is full after `most` of them.
class Notebook : public MovieWriter {
  public:
    explicit Notebook(std::vector<int>& noted, std::int64_t most = INT64_MAX) : noted_(noted), max_(most) {}

    std::string encoder() const override { return "notebook"; }
    void add(std::span<const std::uint8_t> rgba, const std::map<std::string, std::string>&) override {
        if (before_add) before_add();
        if (std::ssize(noted_) == max_) throw Error(ErrorCode::output, "the disk is full", "notebook", "");
        noted_.push_back(rgba[0]);
    }
    void finish() override {}
    std::int64_t pictures() const override { return std::ssize(noted_); }

    std::function<void()> before_add;

  private:
    std::vector<int>& noted_;
    std::int64_t max_;
};

std::function<Image()> picture_of(int number) {
    return [number] { return Image{1, 1, {static_cast<std::uint8_t>(number), 0, 0, 255}, {}}; };
}

TEST(MovieEncodings, DrawingContinuesWhileEncodingUpToLimit) {
    constexpr int count = 200, most = 2 * MovieEncoding::max_waiting + 2;
    std::vector<int> noted;
    std::atomic<int> added = 0, greatest = 0;
    auto writer = std::make_unique<Notebook>(noted);
    writer->before_add = [&] {  // blocks encoding of the first picture until five more are drawn
        AWAIT(added >= 6);
        greatest = std::max<int>(greatest, added - static_cast<int>(noted.size()));
    };
    MovieEncoding encoding(std::move(writer));
    for (int i = 0; i < count; ++i, ++added) encoding.add(picture_of(i));
    encoding.finish();
    ASSERT_EQ(noted.size(), index(count));
    for (int i = 0; i < count; ++i) EXPECT_EQ(noted[index(i)], i);
    EXPECT_LE(greatest, most);
    EXPECT_EQ(encoding.pictures(), count);
}

TEST(MovieEncodings, ErrorsAreRethrown) {
    std::vector<int> noted;
    MovieEncoding encoding(std::make_unique<Notebook>(noted, 3));
    const auto add_for_ever = [&] {
        for (int i = 0;; ++i) encoding.add(picture_of(i));
    };
    EXPECT_EQ(error_of(add_for_ever).code, ErrorCode::output);
    EXPECT_EQ(error_of([&] { encoding.finish(); }).code, ErrorCode::output);
    EXPECT_EQ(encoding.pictures(), 3);
}

TEST(MovieEncodings, KeepsPicturesDrawnBeforeDeviceLoss) {
    std::vector<int> noted;
    MovieEncoding encoding(std::make_unique<Notebook>(noted));
    for (int i = 0; i < 3; ++i) encoding.add(picture_of(i));
    encoding.add([]() -> Image { throw Error(ErrorCode::device, "is lost", "", ""); });
    EXPECT_EQ(error_of([&] { encoding.finish(); }).code, ErrorCode::device);
    EXPECT_EQ(encoding.pictures(), 3);
}

// Encoding in progress is finished; waiting pictures are dropped. The encoder may be faster than the destructor, but
// not always.
TEST(MovieEncodings, DestructionDropsWaitingPictures) {
    constexpr int pictures = MovieEncoding::max_waiting;
    const auto drops_some = [] {
        std::vector<int> noted;
        std::atomic<bool> are_all_added = false;
        {
            auto writer = std::make_unique<Notebook>(noted);
            writer->before_add = [&] { AWAIT(are_all_added.load()); };
            MovieEncoding encoding(std::move(writer));
            for (int i = 0; i < pictures; ++i) encoding.add(picture_of(i));
            are_all_added = true;
        }
        return std::ssize(noted) < pictures;
    };
    EXPECT_TRUE(becomes_true(drops_some, std::chrono::seconds(10)));
}

class MovieFrames : public Rendering {
  protected:
    // Three time points, one per frame.
    std::vector<Picture> frames(const VolumeLimits& limits) {
        SeriesWriter writer(folder_ / "t.nii", {.grid = moment(0).grid, .time_points = 3});
        for (std::int64_t step = 0; step < 3; ++step) writer.write(moment(step).voxels);
        writer.finish();
        MovieJob job;
        job.input = folder_ / "t.nii";
        job.view = small_view();
        job.device.volume_limits = limits;
        job.spec.path = "time";
        job.spec.frames = 3;
        job.output = folder_ / "frame_%04d.png";
        SilentProgress progress;
        run(job, progress);
        std::vector<Picture> pictures;
        for (int i = 0; i < 3; ++i) pictures.push_back(read_png(folder_ / ("frame_000" + std::to_string(i) + ".png")));
        return pictures;
    }

    TemporaryFolder folder_;
};

TEST_F(MovieFrames, ShowAllMomentsInColoursOfFirst) {
    for (const VolumeLimits& limits : {VolumeLimits{}, VolumeLimits{.edge = 8, .page_edge = 4}}) {
        const std::vector<Picture> pictures = frames(limits);
        const auto alone = renderer_with(limits);
        for (std::int64_t step = 0; step < 3; ++step) {
            const Volume first = moment(0), volume = moment(step);
            const auto chosen = fixed_range(*alone->prepare(voxels_in_memory(first.grid, first.voxels.data()), {}));
            alone->show(alone->prepare(voxels_in_memory(volume.grid, volume.voxels.data()), chosen));
            EXPECT_EQ(alone->is_in_pages(), limits.edge == 8);
            const std::vector<std::uint8_t> expected = alone->render(small_view()).pixels;
            EXPECT_TRUE(pictures[index(step)].pixels == expected) << "step " << step;
        }
    }
}

TEST_F(MovieFrames, CanBePicturesInMemory) {
    const auto operation = operation_named("render").make();
    operation->add_input("input", std::make_shared<const Volume>(moment(0)));
    for (const char* assignment : {"size=48x40", "probe=24,20"}) operation->set_assignment(assignment);
    operation->keep("output");
    SilentProgress silent;
    Context context{silent};
    operation->run(context);
    EXPECT_THAT(operation->output("output").bytes, testing::HasSubstr("PNG"));
    EXPECT_TRUE(context.files.empty());
    ASSERT_EQ(context.answers.size(), 1u);
    EXPECT_THAT(context.answers.front(), testing::StartsWith("pixel 24,20: value "));
    EXPECT_EQ(operation->json(context)["probes"].size(), 1u);
    EXPECT_TRUE(operation->json(context)["encoder"].is_null());
}

TEST_F(MovieFrames, AreNotCountedInPicture) {
    const auto operation = operation_named("render").make();
    operation->add_input("input", std::make_shared<const Volume>(moment(0)));
    operation->keep("output");
    operation->set_text("frames", "3");
    SilentProgress silent;
    Context context{silent};
    const Error error = refusal_of([&] { operation->run(context); });
    EXPECT_EQ(error.where(), "frames");
    EXPECT_EQ(error.problem(), "has no effect without `movie`");
}

TEST_F(MovieFrames, AreReproducedIndividually) {
    frames({});
    for (const char* name : {"frame_0000.png", "frame_0002.png"}) {
        const auto again = run_operation(
            "reproduce", {"picture=" + (folder_ / name).string(), "output=" + (folder_ / "again.png").string()});
        EXPECT_TRUE(std::get<bool>(again->result("same"))) << name;
    }
}

// ---- resumed movies and exposures -----------------------------------------------------------------------------------

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
