// Settings that change during acquisition: the textures hold the same voxels as a reconstruction to plain memory with
// the same settings, and each block uses only one set of settings.
#include "app/live/live_job.h"
#include "live_fixture.h"

namespace echolux::test {
namespace {

class LiveChanges : public LiveTest {
  protected:
    LiveChanges() { make(); }

    // A plan with another dispersion, which keeps the slots. Another range needs new slots.
    ReconstructionSpec with_dispersion(double a2_rad) const {
        ReconstructionSpec plan = plan_;
        plan.recipe.a2_rad = a2_rad;
        return plan;
    }
    ReconstructionSpec with_range(double high) const {
        ReconstructionSpec plan = plan_;
        plan.recipe.high = high;
        return plan;
    }

    // B-scans [begin, end) from `part`, the others from `whole`.
    std::vector<std::byte> mixed(std::vector<std::byte> whole, const std::vector<std::byte>& part, std::int64_t begin,
                                 std::int64_t end) const {
        const auto b_scan = std::ssize(whole) / plan_.geometry.b_scans;
        std::copy(part.begin() + begin * b_scan, part.begin() + end * b_scan, whole.begin() + begin * b_scan);
        return whole;
    }
};

TEST_F(LiveChanges, TableChangesBetweenBlocksOfVolume) {
    ASSERT_TRUE(feed(0, 0, 3));
    take(with_dispersion(20), SwapPoint::within_volume);
    ASSERT_TRUE(feed(0, 3, 6));
    const auto before = expected(0);
    const auto after = expected(0, with_dispersion(20));
    ASSERT_NE(before, after);
    EXPECT_EQ(shown(), mixed(before, after, 3, 6));
}

TEST_F(LiveChanges, NewMeaningOfVoxelsWaitsForNextVolume) {
    ASSERT_TRUE(feed(0, 0, 3));
    path_->feeder.change(with_range(90));
    AWAIT(path_->feeder.has_change_ready());
    EXPECT_FALSE(path_->feeder.take_change(SwapPoint::within_volume));
    ASSERT_TRUE(feed(0, 3, 6));
    EXPECT_EQ(shown(), expected(0));
    AWAIT(path_->feeder.take_change(SwapPoint::between_volumes));
    EXPECT_FALSE(path_->display.read_volume()) << "a new ring";
    ASSERT_TRUE(feed(0));
    EXPECT_EQ(shown(), expected(0, with_range(90)));
    EXPECT_NEAR(path_->feeder.grid().scale, 90.0 / 255, 1e-12);
}

TEST_F(LiveChanges, AnotherSizeOfVolumeWorks) {
    ASSERT_TRUE(feed(0));
    ReconstructionSpec cropped = plan_;
    cropped.recipe.depth_end = 20;
    take(cropped);
    ASSERT_TRUE(feed(0));
    EXPECT_EQ(path_->feeder.grid().depth, 20);
    EXPECT_EQ(shown(), expected(0, cropped));
}

// Reprocesses B-scans in the displayed volume.
TEST_F(LiveChanges, ReprocessesBScansInPlace) {
    EXPECT_FALSE(path_->feeder.reprocess(block(0, 3, 6))) << "there is nothing yet";
    ASSERT_TRUE(feed(0));
    const std::uint64_t news = path_->display.news();
    take(with_dispersion(-30));
    ASSERT_TRUE(path_->feeder.reprocess(block(0, 3, 6)));
    EXPECT_NE(path_->display.news(), news) << "pictures are notified";
    const auto before = expected(0);
    const auto after = expected(0, with_dispersion(-30));
    EXPECT_EQ(shown(), mixed(before, after, 3, 6));
    ASSERT_TRUE(feed(0));
    EXPECT_EQ(shown(), after);
}

TEST_F(LiveChanges, FailedPlanKeepsPrevious) {
    ReconstructionSpec impossible = plan_;
    impossible.recipe.depth_begin = 1000;
    EXPECT_THROW(take(impossible), Error);
    ASSERT_TRUE(feed(0));
    EXPECT_EQ(shown(), expected(0));
}

// Draws during acquisition and changes of settings: each volume that stays long enough is shown, in order.
TEST_F(LiveChanges, PictureLoopShowsEachVolumeInOrder) {
    std::vector<std::int64_t> seen;
    std::atomic<std::int64_t> last = -1;
    PictureLoop loop(path_->display, live_view(), 1000, [&](std::int64_t volume) {
        seen.push_back(volume);
        last = volume;
    });
    for (std::int64_t volume = 0; volume < 8; ++volume) {
        if (volume == 4) take(with_range(90), SwapPoint::between_volumes);
        ASSERT_TRUE(feed(volume));
        AWAIT(last == volume);
    }
    loop.stop();
    EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    const PictureStats stats = loop.stats();
    EXPECT_EQ(stats.volumes, 8);
    EXPECT_EQ(stats.out_of_order, 0);
    EXPECT_GE(stats.pictures, 8);
}

}  // namespace
}  // namespace echolux::test
