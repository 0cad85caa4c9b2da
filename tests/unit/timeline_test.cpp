// The timeline with a manual clock: which step is due when, the ends, and that each step that was not seen is counted
// once.
#include "app/viewer/timeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace echolux {
namespace {

// Plays steps of 1 s; each step is seen at once.
class Playing : public testing::Test {
  protected:
    std::vector<std::int64_t> steps_at(const std::vector<double>& times_s) {
        std::vector<std::int64_t> steps;
        for (const double now_s : times_s) {
            line_.advance(now_s);
            line_.note_shown(line_.step(), now_s);
            steps.push_back(line_.step());
        }
        return steps;
    }

    Timeline line_{5, 1};
};

using Steps = std::vector<std::int64_t>;

TEST_F(Playing, ShowsEachStepForItsRecordedTime) {
    line_.play(10);
    EXPECT_EQ(steps_at({10, 10.9, 11, 11.99, 12, 13.5, 14}), (Steps{0, 0, 1, 1, 2, 3, 4}));
    EXPECT_EQ(line_.left_out(), 0);
    EXPECT_TRUE(line_.plays());
}

TEST_F(Playing, LoopsBetweenItsEnds) {
    line_.set_ends(3, 1);  // in any order
    EXPECT_EQ(line_.first(), 1);
    EXPECT_EQ(line_.last(), 3);
    line_.play(0);
    EXPECT_EQ(steps_at({0, 1, 2, 3, 4, 5, 6}), (Steps{1, 2, 3, 1, 2, 3, 1}));
    EXPECT_EQ(line_.left_out(), 0);
}

TEST_F(Playing, StopsAtEndAndRestarts) {
    line_.set_loops(false);
    line_.play(0);
    EXPECT_EQ(steps_at({0, 1, 2, 3, 4, 5, 60}), (Steps{0, 1, 2, 3, 4, 4, 4}));
    EXPECT_FALSE(line_.plays());
    line_.play(100);
    EXPECT_EQ(steps_at({100, 101}), (Steps{0, 1}));
}

TEST_F(Playing, ClampsEndsToSeries) {
    line_.set_ends(-7, 700);
    EXPECT_EQ(line_.first(), 0);
    EXPECT_EQ(line_.last(), 4);
}

TEST_F(Playing, AnotherSpeedCountsFromNowOn) {
    line_.play(0);
    EXPECT_EQ(steps_at({0.5}), (Steps{0}));
    line_.set_speed(2, 0.5);  // half of the step is left, which now takes 0.25 s
    EXPECT_EQ(steps_at({0.74, 0.75, 1.24, 1.25}), (Steps{0, 1, 1, 2}));
    line_.set_speed(0.5, 1.25);
    EXPECT_EQ(steps_at({3.24, 3.25, 5.24, 5.25}), (Steps{2, 3, 3, 4}));
    EXPECT_EQ(line_.left_out(), 0);
}

TEST_F(Playing, ClampsSpeed) {
    line_.set_speed(1000, 0);
    EXPECT_EQ(line_.speed(), 50);
    line_.set_speed(0.001, 0);
    EXPECT_EQ(line_.speed(), 0.05);
    line_.set_speed(-1, 0);
    EXPECT_EQ(line_.speed(), 0.05);
}

// Shown at 0, 3 and 4 s: the steps at 1 and 2 s were not seen.
TEST_F(Playing, CountsStepsNotSeen) {
    line_.play(0);
    EXPECT_EQ(steps_at({0, 3, 4}), (Steps{0, 3, 4}));
    EXPECT_EQ(line_.left_out(), 2);
}

// Each picture takes 2.5 s to appear and shows the step that was due when it was begun.
TEST_F(Playing, CountsStepsSkippedBySlowConsumer) {
    line_.play(0);
    std::vector<std::int64_t> seen;
    double now_s = 0;
    for (int picture = 0; picture < 8; ++picture) {
        line_.advance(now_s);
        const std::int64_t begun = line_.step();
        now_s += 2.5;
        line_.advance(now_s);
        line_.note_shown(begun, now_s);
        seen.push_back(begun);
    }
    EXPECT_EQ(seen, (Steps{0, 2, 0, 2, 0, 2, 0, 2}));  // begun at 0, 2.5, 5 ... s
    EXPECT_EQ(line_.left_out(), 17 - 7);  // turns 0 to 17, of which 8 were seen: 0, 2, 5, 7, 10, 12, 15, 17
}

TEST_F(Playing, LatePictureIsStillSeen) {
    line_.play(0);
    line_.advance(1.5);
    line_.note_shown(0, 1.5);  // its turn is over
    line_.note_shown(1, 1.6);
    EXPECT_EQ(line_.left_out(), 0);
}

TEST_F(Playing, RepeatedPictureIsNotCounted) {
    line_.play(0);
    for (const double now_s : {0.0, 0.2, 0.9}) {
        line_.advance(now_s);
        line_.note_shown(0, now_s);
    }
    line_.advance(1);
    EXPECT_EQ(line_.left_out(), 0);
    EXPECT_EQ(line_.shown(), 0);
}

TEST_F(Playing, JumpSkipsNoSteps) {
    line_.play(0);
    EXPECT_EQ(steps_at({0}), (Steps{0}));
    line_.go_to(3);
    EXPECT_EQ(steps_at({0.1, 1.0, 1.1, 2.1}), (Steps{3, 3, 4, 0}));
    EXPECT_TRUE(line_.plays());
    EXPECT_EQ(line_.left_out(), 0);
}

TEST_F(Playing, SteppingPausesAndWrapsAround) {
    line_.play(0);
    line_.step_by(-1);
    EXPECT_FALSE(line_.plays());
    EXPECT_EQ(line_.step(), 4);
    line_.step_by(3);
    EXPECT_EQ(line_.step(), 2);
    line_.set_loops(false);
    line_.step_by(-10);
    EXPECT_EQ(line_.step(), 0);
    line_.go_to(99);
    EXPECT_EQ(line_.step(), 4);
}

TEST_F(Playing, ReportsShownRate) {
    line_.play(0);
    steps_at({0, 1, 2, 3});
    EXPECT_NEAR(line_.shown_per_s(), 1, 1e-9);
    line_.pause();
    EXPECT_EQ(line_.shown_per_s(), 0);
}

// Steps 1 and 2 are due; 0 is on the screen.
TEST_F(Playing, ReportsWaitingSteps) {
    line_.play(0);
    steps_at({0});
    EXPECT_EQ(line_.waiting(), 0);
    line_.advance(2.5);
    ASSERT_EQ(line_.waiting(), 2);
    EXPECT_EQ(line_.step_ago(0), 2);
    EXPECT_EQ(line_.step_ago(1), 1);
    EXPECT_EQ(line_.step_ago(4), 3) << "round";
    line_.note_shown(1, 2.5);
    EXPECT_EQ(line_.waiting(), 1);
}

TEST(Timeline, UnknownStepLastsTenthOfSecond) {
    Timeline line(3, 0);
    EXPECT_EQ(line.step_s(), 0.1);
    line.play(0);
    line.advance(0.25);
    EXPECT_EQ(line.step(), 2);
}

TEST(Timeline, ImplausibleStepIsUnknown) {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double step_s : {1e-43, 9e-7, 1.1e6, 1e38, -1.0, infinity, std::nan("")}) {
        Timeline line(3, step_s);
        EXPECT_EQ(line.step_s(), 0.1) << step_s;
        line.play(0);
        line.advance(0.25);
        EXPECT_EQ(line.step(), 2) << step_s;
    }
    EXPECT_EQ(Timeline(3, 1e-6).step_s(), 1e-6);
    EXPECT_EQ(Timeline(3, 1e6).step_s(), 1e6);
}

TEST(Timeline, SingleStepNeverPlays) {
    Timeline line(1, 1);
    line.play(0);
    line.advance(1e9);
    EXPECT_FALSE(line.plays());
    EXPECT_EQ(line.step(), 0);
}

TEST(Timeline, LargeClockJumpKeepsValidStep) {
    Timeline line(7, 0.001);
    line.play(0);
    line.advance(1e6);
    EXPECT_GE(line.step(), 0);
    EXPECT_LE(line.step(), 6);
    EXPECT_LE(line.waiting(), 7);
}

}  // namespace
}  // namespace echolux
