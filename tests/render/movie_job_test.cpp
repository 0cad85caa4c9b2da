// Movies frame by frame: each frame equals the renderer's picture of the same volume.
#include "app/movie/movie_job.h"

#include <gmock/gmock.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/movie/movie_encoding.h"
#include "compute/indexing.h"
#include "engine/io/png_file.h"
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

}  // namespace
}  // namespace echolux::test
