// Losses are counted until they are acknowledged, with the time at which they happened.
#include "ui/workspace/losses.h"

#include <gtest/gtest.h>

namespace echolux::test {
namespace {

LiveStats after(double seconds, std::int64_t lost, std::int64_t volumes = 0) {
    LiveStats stats{.running = true, .seconds = seconds, .arrived = {.lost_blocks = lost, .volumes = volumes}};
    return stats;
}

TEST(Losses, StayUntilTheyAreAcknowledged) {
    Losses losses;
    losses.follow(after(1, 0));
    EXPECT_EQ(losses.unseen(), 0);
    losses.follow(after(2, 1));
    EXPECT_EQ(losses.text(), "1 block lost");
    losses.follow(after(9, 5));
    EXPECT_EQ(losses.unseen(), 5);
    losses.acknowledge();
    losses.follow(after(10, 5));
    EXPECT_EQ(losses.unseen(), 0);
    losses.follow(after(11, 7));
    EXPECT_EQ(losses.text(), "2 blocks lost (7 in all)");
    EXPECT_EQ(losses.total(), 7);
}

TEST(Losses, HaveTheirTimeAndVolume) {
    Losses losses;
    losses.follow(after(2, 1, 3));
    losses.follow(after(2.5, 2, 4));
    losses.follow(after(9, 6, 20));
    ASSERT_EQ(losses.all().size(), 2u) << "losses within a second are one";
    EXPECT_EQ(losses.all()[0].blocks, 2);
    EXPECT_EQ(losses.all()[1].at_s, 9);
    EXPECT_EQ(losses.all()[1].volume, 20);
    EXPECT_EQ(losses.all()[1].blocks, 4);
}

TEST(Losses, RecordingCountsItsOwn) {
    Losses losses;
    LiveStats stats = after(3, 2);
    stats.recorder = RecorderStats{};
    stats.recorder->missing_blocks = 3;
    stats.recorder->lost_blocks = 2;  // the same that the source lost
    losses.follow(stats);
    EXPECT_EQ(losses.unseen(), 5);
    stats.seconds = 60;
    stats.recorder->missing_blocks = 1;  // the next recording
    losses.follow(stats);
    EXPECT_EQ(losses.unseen(), 6);
}

TEST(Losses, NewStartKeepsCountAndClearsTimeLine) {
    Losses losses;
    losses.follow(after(30, 4));
    losses.follow(after(1, 0));
    EXPECT_EQ(losses.unseen(), 4);
    EXPECT_TRUE(losses.all().empty());
    losses.follow(after(5, 1));
    EXPECT_EQ(losses.unseen(), 5);
    ASSERT_EQ(losses.all().size(), 1u);
}

}  // namespace
}  // namespace echolux::test
