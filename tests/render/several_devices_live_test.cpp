// Live volumes of several devices in one ring, without a GPU: several reconstructors on the CPU. The textures have the
// same bits as with one device, complete and in parts, through changes of settings and the loss of a device. tests/gpu
// runs this on GPUs.
#include <gmock/gmock.h>

#include <thread>

#include "app/live/live_pipeline.h"
#include "rendering.h"
#include "small_scan.h"
#include "tests/oracle/several.h"
#include "tests/unit/await.h"

namespace echolux::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using SwapPoint = BlockSink::SwapPoint;

class LiveOfSeveral : public Rendering, public testing::WithParamInterface<std::size_t> {
  protected:
    LiveOfSeveral() { plan_.block_b_scans = 1; }

    void make(Publishing publishing = Publishing::whole) {
        const std::vector<BackendChoice> devices(GetParam(), BackendChoice{.backend = Backend::cpu});
        LivePipelineOptions options;
        options.publishing = publishing;
        options.reconstructor = several(devices, is_lost_);
        GpuDevice device;
        device.validation = true;
        device.on_message = [](const std::string& text) { ADD_FAILURE() << "validation layer: " << text; };
        path_ = std::make_unique<LivePipeline>(plan_, devices.front(), device, options);
    }

    bool feed(std::int64_t volume, std::int64_t begin, std::int64_t end) {
        const std::vector<std::uint16_t> samples = noise_spectra(plan_, volume);
        bool was_taken = true;
        for (std::int64_t b = begin; b < end; ++b) {
            was_taken &= path_->feeder.feed(block_of(plan_, std::as_bytes(std::span(samples)), volume, b, b + 1));
        }
        return was_taken;
    }
    bool feed(std::int64_t volume) { return feed(volume, 0, b_scans); }

    std::vector<std::byte> expected(std::int64_t volume) const {
        return voxels_in_memory(plan_, noise_spectra(plan_, volume));
    }

    static constexpr std::int64_t b_scans = 7;
    ReconstructionSpec plan_ = noise_spec(64, 13, b_scans);
    std::shared_ptr<bool> is_lost_ = std::make_shared<bool>(false);
    std::unique_ptr<LivePipeline> path_;
};

TEST_P(LiveOfSeveral, TexturesMatchOneDevice) {
    for (const Background background : {Background::none, Background::running}) {
        plan_.recipe.background = background;
        make();
        for (std::int64_t volume = 0; volume < 3; ++volume) {
            ASSERT_TRUE(feed(volume));
            EXPECT_EQ(path_->display.read_volume()->voxels, expected(volume)) << "volume " << volume;
        }
    }
    const std::vector<DeviceWork> devices = path_->feeder.device_work();
    ASSERT_EQ(devices.size(), GetParam());
    std::int64_t blocks = 0;
    for (const DeviceWork& one : devices) {
        blocks += one.blocks;
        EXPECT_GE(one.blocks, 3 * b_scans / std::ssize(devices));
    }
    EXPECT_EQ(blocks, 3 * b_scans);
}

TEST_P(LiveOfSeveral, ShowsEachPartOnArrival) {
    make(Publishing::rolling);
    ASSERT_TRUE(feed(0));
    for (std::int64_t end = 1; end < b_scans; ++end) {
        ASSERT_TRUE(feed(1, end - 1, end));
        EXPECT_EQ(path_->display.read_volume()->filled_to, end);
    }
    ASSERT_TRUE(feed(1, b_scans - 1, b_scans));
    EXPECT_EQ(path_->display.read_volume()->voxels, expected(1));
}

TEST_P(LiveOfSeveral, SettingsChangeBetweenBlocksForAllOfThem) {
    plan_.recipe.background = Background::running;
    make();
    ASSERT_TRUE(feed(0));
    plan_.recipe.a2_rad = 20;
    path_->feeder.change(plan_);
    AWAIT(path_->feeder.take_change(SwapPoint::between_volumes));
    ASSERT_TRUE(feed(1));
    EXPECT_EQ(path_->display.read_volume()->voxels, expected(1));
    const std::vector<std::uint16_t> samples = noise_spectra(plan_, 1);
    plan_.recipe.background = Background::none;
    path_->feeder.change(plan_);
    AWAIT(path_->feeder.take_change(SwapPoint::between_volumes));
    ASSERT_TRUE(path_->feeder.reprocess(block_of(plan_, std::as_bytes(std::span(samples)), 1, 2, 3)));
    const std::vector<std::byte> read = path_->display.read_volume()->voxels, whole = expected(1);
    const auto b_scan = std::ssize(whole) / b_scans;
    EXPECT_TRUE(std::equal(read.begin() + 2 * b_scan, read.begin() + 3 * b_scan, whole.begin() + 2 * b_scan));
}

// The volume in progress is dropped, and the remaining devices make the next ones.
TEST_P(LiveOfSeveral, ExcludesDeviceLostDuringVolume) {
    plan_.recipe.background = Background::running;
    make();
    ASSERT_TRUE(feed(0));
    ASSERT_TRUE(feed(1, 0, 2));
    *is_lost_ = true;
    EXPECT_FALSE(feed(1, 2, b_scans));
    EXPECT_EQ(path_->display.read_volume()->voxels, expected(0)) << "pictures go on with the one before";
    for (std::int64_t volume = 2; volume < 8; ++volume) {  // uses each slot more than once
        ASSERT_TRUE(feed(volume));
        EXPECT_EQ(path_->display.read_volume()->voxels, expected(volume)) << "volume " << volume;
    }
    const std::vector<BlockSink::SinkMessage> news = path_->feeder.take_messages();
    ASSERT_EQ(news.size(), 1u);
    EXPECT_THAT(news[0].line, HasSubstr("is not used: lost"));
    EXPECT_THAT(path_->feeder.describe(), HasSubstr("is not used: lost"));
    EXPECT_EQ(path_->feeder.device_work().back().failure, "lost");
    EXPECT_EQ(path_->feeder.statistics().abandoned, 1);
    EXPECT_EQ(path_->feeder.statistics().published, 7);
}

INSTANTIATE_TEST_SUITE_P(Devices, LiveOfSeveral, testing::Values(2, 3, 4));

}  // namespace
}  // namespace echolux::test
