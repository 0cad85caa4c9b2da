// The complete live path on the CPU and software Vulkan: blocks of spectra in, pictures out. Textures are compared with
// a reconstruction to plain memory, and pictures with the same voxels set as a volume.
#include <gmock/gmock.h>

#include <thread>

#include "live_fixture.h"
#include "tests/oracle/several.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

class Path : public LiveTest {
  protected:
    std::vector<std::uint8_t> expected_picture(std::int64_t volume) {
        renderer().set_volume(path_->feeder.grid(), expected(volume).data());
        return renderer().render(live_view()).pixels;
    }
};

TEST_F(Path, TexturesHoldReconstructedVoxels) {
    for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::f16, VoxelType::f32}) {
        plan_ = small_plan(type);
        make();
        for (std::int64_t volume = 0; volume < 3; ++volume) {
            ASSERT_TRUE(feed(volume));
            const ReadVolume read = path_->display.read_volume().value();
            EXPECT_EQ(read.stamp.volume, volume);
            EXPECT_EQ(read.stamp.time_s, 0.5 * static_cast<double>(volume));
            EXPECT_EQ(read.filled_to, 6);
            EXPECT_EQ(read.voxels, expected(volume));
        }
    }
}

TEST_F(Path, PicturesShowNewestVolume) {
    make();
    EXPECT_FALSE(path_->display.picture(live_view()));
    for (std::int64_t volume = 0; volume < 3; ++volume) {
        ASSERT_TRUE(feed(volume));
        const LivePicture picture = path_->display.picture(live_view()).value();
        path_->display.wait(picture);
        EXPECT_EQ(path_->display.read(picture).pixels, expected_picture(volume)) << "volume " << volume;
    }
    const RingStatistics counted = path_->feeder.statistics();
    EXPECT_EQ(counted.published, 3);
    EXPECT_EQ(counted.shown, 3);
    EXPECT_EQ(counted.dropped + counted.late + counted.abandoned, 0);
}

TEST_F(Path, DescribesItself) {
    EXPECT_THAT(make().feeder.describe(),
                testing::AllOf(HasSubstr("cpu ("), HasSubstr("uploaded to " + renderer().device_name())));
}

TEST_F(Path, ReportsReasonWithoutGpu) {
    if (!surveyed_gpus().usable.empty()) GTEST_SKIP() << "there is a GPU";
    const std::string text = LivePipeline(small_plan(), {}, {}).feeder.describe();
    const std::string reason = surveyed_gpus().refusal;
    EXPECT_THAT(text, testing::AllOf(testing::StartsWith("cpu ("), testing::EndsWith("; " + reason)));
    EXPECT_EQ(text.find(reason), text.rfind(reason)) << "said twice: " << text;
}

// As in a window: the final picture equals the renderer's picture of the same voxels, and needs no work of the ring.
TEST_F(Path, FollowsNewestVolume) {
    make();
    View view = live_view();
    view.rest_samples = 1;
    EXPECT_FALSE(path_->display.shown());
    EXPECT_FALSE(path_->display.follow(view, 0, 0));
    EXPECT_FALSE(path_->display.histogram());
    EXPECT_FALSE(path_->display.probe(view, 24, 20));
    double now_s = 0;
    for (std::int64_t volume = 0; volume < 2; ++volume) {
        ASSERT_TRUE(feed(volume));
        EXPECT_EQ(path_->display.shown()->stamp.volume, volume);
        for (const std::size_t pane : {0, 1}) {
            PaneContent followed;
            for (TestTimeout timeout; timeout.lasts() && !followed.picture.is_final;) {
                followed = path_->display.follow(view, now_s += 0.1, pane).value();
                EXPECT_EQ(followed.stamp.volume, volume);
                EXPECT_TRUE(followed.is_whole);
            }
            const LivePicture picture{followed.picture.drawing, followed.stamp};
            path_->display.wait(picture);
            EXPECT_EQ(path_->display.read(picture).pixels, expected_picture(volume)) << "volume " << volume;
        }
        const std::int64_t pictures = path_->feeder.statistics().pictures;
        EXPECT_TRUE(path_->display.follow(view, now_s += 0.1, 0)->picture.is_final);
        EXPECT_EQ(path_->feeder.statistics().pictures, pictures);
    }
    EXPECT_TRUE(path_->display.probe(view, 24, 20));
}

TEST_F(Path, CountsHistogram) {
    make();
    ASSERT_TRUE(feed(0));
    std::optional<Histogram> histogram;
    AWAIT(histogram = path_->display.histogram());
    std::int64_t voxels = 0;
    for (const std::uint32_t count : histogram->counts) voxels += count;
    EXPECT_EQ(voxels, path_->feeder.grid().voxels());
    ASSERT_TRUE(feed(1));
    const std::uint64_t serial = histogram->serial;
    AWAIT((histogram = path_->display.histogram()) && histogram->serial != serial);
    EXPECT_GT(path_->feeder.statistics().pictures, 0);
}

TEST_F(Path, RollingShowsEachBatch) {
    make({.publishing = Publishing::rolling});
    ASSERT_TRUE(feed(0, 0, 2));
    EXPECT_EQ(path_->display.picture(live_view())->filled_to, 2);
    ASSERT_TRUE(feed(0, 2, 5));
    EXPECT_EQ(path_->display.picture(live_view())->filled_to, 5);
    ASSERT_TRUE(feed(0, 5, 6));
    LivePicture picture = path_->display.picture(live_view()).value();
    EXPECT_EQ(picture.filled_to, 6);
    EXPECT_EQ(path_->display.read(picture).pixels, expected_picture(0));
    ASSERT_TRUE(feed(1, 0, 3));
    picture = path_->display.picture(live_view()).value();
    EXPECT_EQ(picture.stamp.volume, 1);
    EXPECT_EQ(picture.filled_to, 3);
    EXPECT_NE(path_->display.read(picture).pixels, expected_picture(0));
}

TEST_F(Path, VolumeWithMissingBlocksIsNeverShown) {
    make();
    ASSERT_TRUE(feed(0));
    EXPECT_TRUE(feed(1, 0, 2));
    EXPECT_FALSE(feed(1, 4, 6));
    EXPECT_EQ(path_->display.picture(live_view())->stamp.volume, 0);
    EXPECT_TRUE(feed(2, 0, 2));
    EXPECT_TRUE(feed(3));  // volume 2 stays incomplete
    const LivePicture picture = path_->display.picture(live_view()).value();
    EXPECT_EQ(picture.stamp.volume, 3);
    EXPECT_EQ(path_->display.read(picture).pixels, expected_picture(3));
    EXPECT_EQ(path_->feeder.statistics().abandoned, 2);
}

// A CPU that claims to be a GPU. Counts the blocks, and fails while `is_lost`.
class ClaimedGpu : public LosableDevice {
  public:
    ClaimedGpu(std::unique_ptr<Reconstructor> device, std::shared_ptr<const bool> is_lost, std::int64_t& blocks)
        : LosableDevice(std::move(device), std::move(is_lost)), blocks_(blocks) {}

    Backend backend() const override { return Backend::cuda; }
    Completion submit(const Block& block, const VoxelTargets& targets) override {
        ++blocks_;
        return LosableDevice::submit(block, targets);
    }

  private:
    std::int64_t& blocks_;
};

TEST_F(Path, RehearsalOnGpuLeavesNoTrace) {
    plan_.recipe.background = Background::running;
    std::int64_t blocks = 0;
    LivePipelineOptions options;
    options.reconstructor = [&](const ReconstructionSpec& spec, const BackendChoice& choice) -> ChosenReconstructor {
        return {std::make_unique<ClaimedGpu>(make_reconstructor(spec, choice), std::make_shared<bool>(false), blocks),
                {}};
    };
    make(options);
    EXPECT_EQ(blocks, 2);  // a volume
    EXPECT_FALSE(path_->display.picture(live_view()));
    for (std::int64_t volume = 0; volume < 2; ++volume) {
        ASSERT_TRUE(feed(volume));
        EXPECT_EQ(shown(), expected(volume));
    }
    const RingStatistics counted = path_->feeder.statistics();
    EXPECT_EQ(counted.published, 2);
    EXPECT_EQ(counted.dropped + counted.abandoned, 0);
}

TEST_F(Path, FailedRehearsalIsRetried) {
    std::int64_t blocks = 0, made = 0;
    LivePipelineOptions options;
    options.reconstructor = [&](const ReconstructionSpec& spec, const BackendChoice&) -> ChosenReconstructor {
        return {std::make_unique<ClaimedGpu>(make_reconstructor(spec, {.backend = Backend::cpu}),
                                             std::make_shared<bool>(made++ == 0), blocks),
                {}};
    };
    path_ = std::make_unique<LivePipeline>(plan_, BackendChoice{}, validated_device(), options);
    EXPECT_EQ(made, 2);
    EXPECT_THAT(path_->feeder.describe(), HasSubstr("after a failure: lost"));
    ASSERT_TRUE(feed(0));
    EXPECT_EQ(shown(), expected(0));
}

TEST_F(Path, BadBlockIsErrorAndNextVolumeWorks) {
    make();
    Block short_one = block(0, 0, 3);
    short_one.bytes = 1;
    EXPECT_THROW(path_->feeder.feed(short_one), Error);
    EXPECT_TRUE(feed(1));
    EXPECT_EQ(path_->display.picture(live_view())->stamp.volume, 1);
}

// Whichever call detects the loss first, the slot used by the lost picture is written again by the waiting feeder.
TEST_F(Path, LostDisplayReleasesFeeder) {
    using Hear = std::function<void(const LivePicture&)>;
    const std::array<Hear, 4> ways{[&](const LivePicture& picture) { path_->display.wait(picture); },
                                   [&](const LivePicture& picture) { path_->display.is_finished(picture); },
                                   [&](const LivePicture& picture) { path_->display.read(picture); },
                                   [&](const LivePicture&) { path_->display.read_volume(); }};
    for (std::size_t way = 0; way < ways.size(); ++way) {
        SCOPED_TRACE(way);
        lost_ = false;
        make({.slots = 2});
        ASSERT_TRUE(feed(0));
        path_->display.wait(path_->display.picture(live_view()).value());
        lost_ = true;
        const LivePicture lost = path_->display.picture(live_view()).value();
        EXPECT_EQ(refusal_of([&] { ways[way](lost); }).code(), ErrorCode::device);
        for (std::int64_t volume = 1; volume < 5; ++volume) EXPECT_TRUE(feed(volume));
        EXPECT_EQ(refusal_of([&] { path_->display.wait(path_->display.picture(live_view()).value()); }).code(),
                  ErrorCode::device);
        EXPECT_EQ(path_->feeder.statistics().published, 5);
    }
}

// If no call has detected the loss, feeding is an error, and the destructor does not hang.
TEST_F(Path, UndetectedLostDisplayBlocksNoThread) {
    make({.slots = 2});
    ASSERT_TRUE(feed(0));
    path_->display.wait(path_->display.picture(live_view()).value());
    lost_ = true;
    ASSERT_TRUE(path_->display.picture(live_view()));
    ASSERT_TRUE(feed(1));
    EXPECT_EQ(refusal_of([&] { feed(2); }).code(), ErrorCode::device);
    path_.reset();
}

// Every picture shows a single complete volume, the one in its stamp.
TEST_F(Path, TwoThreadsFeedAndDraw) {
    make();
    const std::array expected{expected_picture(0), expected_picture(1)};
    ASSERT_NE(expected[0], expected[1]);
    for (std::int64_t volume = 0; volume < 300; ++volume) spectra_[volume] = noise_spectra(plan_, volume % 2);
    constexpr std::int64_t volumes = 300;
    const auto feed_from = [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t volume = first; volume < end; ++volume) feed(volume);
    };
    feed_from(0, 1);
    ASSERT_EQ(path_->display.read(path_->display.picture(live_view()).value()).pixels,
              expected[0]);  // compiles the shader
    std::jthread feeder([&] {
        feed_from(1, volumes);
        path_->feeder.finish();
    });
    std::int64_t last = -1;
    for (TestTimeout timeout; last < volumes - 1 && timeout.lasts();) {
        const std::optional<LivePicture> picture = path_->display.picture(live_view());
        if (!picture) continue;
        ASSERT_GE(picture->stamp.volume, last);
        last = picture->stamp.volume;
        ASSERT_EQ(path_->display.read(*picture).pixels, expected[index(last % 2)]) << "volume " << last;
    }
    feeder.join();
    const RingStatistics counted = path_->feeder.statistics();
    EXPECT_EQ(counted.published, volumes);
    EXPECT_EQ(counted.dropped, 0);
    EXPECT_EQ(counted.shown + counted.late, volumes);
    EXPECT_GE(counted.shown, 2);
}

void start_and_stop(int cycles) {
    const ReconstructionSpec plan = small_plan();
    const std::vector<std::uint16_t> spectra = noise_spectra(plan, 0);
    const auto samples = std::as_bytes(std::span(spectra));
    const auto cycle = [&] {
        LivePipeline path(plan, {.backend = Backend::cpu}, {});
        path.feeder.feed(block_of(plan, samples, 0, 0, 3));
        path.feeder.feed(block_of(plan, samples, 0, 3, 6));
        path.display.picture(live_view());
        path.feeder.feed(block_of(plan, samples, 1, 0, 3));  // stop in the middle of a volume, while a picture is drawn
    };
    cycle();  // opens the descriptors that drivers and thread pools keep
    const std::ptrdiff_t before = open_descriptors();
    for (int i = 0; i < cycles; ++i) cycle();
    EXPECT_EQ(open_descriptors(), before);
}

TEST(StartAndStop, LeakNoDescriptor) {
    start_and_stop(20);
}

TEST(StartAndStop, ThousandTimesLeakNoDescriptorSlow) {
    start_and_stop(1000);
}

}  // namespace
}  // namespace echolux::test
