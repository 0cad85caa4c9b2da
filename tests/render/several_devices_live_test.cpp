// Live volumes of several devices in one ring, without a GPU: several reconstructors on the CPU. The textures have the
// same bits as with one device, complete and in parts, through changes of settings and the loss of a device. tests/gpu
// runs this on GPUs.
#include <gmock/gmock.h>

#include "live_fixture.h"
#include "tests/oracle/several.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

class LiveOfSeveral : public LiveTest, public testing::WithParamInterface<std::size_t> {
  protected:
    LiveOfSeveral() {
        plan_ = noise_spec(64, 13, b_scans);
        plan_.block_b_scans = 1;
    }

    void make(Publishing publishing = Publishing::whole) {
        const std::vector<BackendChoice> devices(GetParam(), BackendChoice{.backend = Backend::cpu});
        LivePipelineOptions options{.publishing = publishing, .reconstructor = several(devices, is_lost_)};
        LiveTest::make(options);
    }

    bool feed_from(std::int64_t volume, std::int64_t begin) {
        bool was_taken = true;
        for (std::int64_t b = begin; b < b_scans; ++b) was_taken &= feed(volume, b, b + 1);
        return was_taken;
    }

    static constexpr std::int64_t b_scans = 7;
    std::shared_ptr<bool> is_lost_ = std::make_shared<bool>(false);
};

TEST_P(LiveOfSeveral, TexturesMatchOneDevice) {
    for (const Background background : {Background::none, Background::running}) {
        plan_.recipe.background = background;
        make();
        for (std::int64_t volume = 0; volume < 3; ++volume) {
            ASSERT_TRUE(feed(volume));
            EXPECT_EQ(shown(), expected(volume)) << "volume " << volume;
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
    EXPECT_EQ(shown(), expected(1));
}

TEST_P(LiveOfSeveral, SettingsChangeBetweenBlocksForAllOfThem) {
    plan_.recipe.background = Background::running;
    make();
    ASSERT_TRUE(feed(0));
    plan_.recipe.a2_rad = 20;
    take(plan_);
    ASSERT_TRUE(feed(1));
    EXPECT_EQ(shown(), expected(1));
    plan_.recipe.background = Background::none;
    take(plan_);
    ASSERT_TRUE(path_->feeder.reprocess(block(1, 2, 3)));
    const std::vector<std::byte> read = shown(), whole = expected(1);
    const auto b_scan = std::ssize(whole) / b_scans;
    EXPECT_TRUE(std::equal(read.begin() + 2 * b_scan, read.begin() + 3 * b_scan, whole.begin() + 2 * b_scan));
}

// The volume in progress is dropped, and the remaining devices make the next ones.
TEST_P(LiveOfSeveral, ExcludesDeviceLostDuringVolume) {
    plan_.recipe.background = Background::running;
    make();
    ASSERT_TRUE(feed(0));
    ASSERT_TRUE(feed(1, 0, 1) && feed(1, 1, 2));
    *is_lost_ = true;
    EXPECT_FALSE(feed_from(1, 2));
    EXPECT_EQ(shown(), expected(0)) << "pictures go on with the one before";
    for (std::int64_t volume = 2; volume < 8; ++volume) {  // uses each slot more than once
        ASSERT_TRUE(feed(volume));
        EXPECT_EQ(shown(), expected(volume)) << "volume " << volume;
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
