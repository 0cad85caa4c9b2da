// Blocks of a source are never trusted: each kind of fault is rejected or noted, counted, and reported without
// flooding.
#include "engine/live/display_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "faulty_source.h"
#include "live_plan.h"

namespace echolux {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct Trial {
    std::vector<std::string> lines;
    std::vector<std::uint64_t> admitted;
    ArrivalStats stats;
};

Trial trial(std::vector<Fault> script) {
    FaultySource source(live_scan(), 1, std::move(script));
    Trial trial;
    Arrivals arrivals(source.scan().spec(1),
                      [&](const std::string& line, const std::string&) { trial.lines.push_back(line); });
    source.start();
    for (Arrival arrival = source.next(0ms); arrival.kind == Arrival::Kind::block; arrival = source.next(0ms)) {
        if (arrivals.admit(arrival.block)) trial.admitted.push_back(arrival.block.sequence);
    }
    trial.stats = arrivals.stats();
    return trial;
}

TEST(Arrivals, AdmitsRegularBlocks) {
    const Trial t = trial({send(9), end()});
    EXPECT_EQ(t.stats.blocks, 9);
    EXPECT_EQ(t.stats.volumes, 2);
    EXPECT_EQ(t.stats.a_scans, 27);
    EXPECT_EQ(t.stats.bytes, 9 * 3 * 128);
    EXPECT_EQ(t.lines.size(), 0u);
}

TEST(Arrivals, RejectsRepeatedAndLateBlocks) {
    const Trial t = trial({send(2), repeat(), exchange(), send(1), end()});
    EXPECT_EQ(t.admitted, (std::vector<std::uint64_t>{0, 1, 3, 4}));
    EXPECT_EQ(t.stats.repeated_blocks, 2);
    EXPECT_EQ(t.stats.lost_blocks, 1) << "block 2 came too late";
    EXPECT_EQ(t.lines.size(), 2u);
}

TEST(Arrivals, CountsEachLossOnce) {
    const Trial t = trial({send(2), lose(3), send(2), end()});
    EXPECT_EQ(t.stats.lost_blocks, 3);
    EXPECT_EQ(t.stats.blocks, 4);
    ASSERT_EQ(t.lines.size(), 1u);
    EXPECT_EQ(t.lines[0], "3 blocks lost before block 5");
}

TEST(Arrivals, RejectsBlocksOfWrongShape) {
    const Trial t = trial({send(1), cut_short(), oversize(), misplace(), send(1), end()});
    EXPECT_EQ(t.stats.misshapen_blocks, 3);
    EXPECT_EQ(t.stats.blocks, 2);
    EXPECT_EQ(t.lines.size(), 2u) << "one of the shape, one of the gap that they leave";
}

TEST(Arrivals, CountsJumpsOfClock) {
    const Trial t = trial({send(3), jump(-0.1), send(1), jump(60), send(1), jump(std::nan("")), send(2), end()});
    EXPECT_EQ(t.stats.time_jumps, 4);
    EXPECT_EQ(t.stats.blocks, 7) << "they are used all the same";
}

TEST(Arrivals, ReportsRepeatedProblemsRarely) {
    std::vector<Fault> script{send(1)};
    for (int i = 0; i < 150; ++i) script.push_back(repeat());
    script.push_back(end());
    const Trial t = trial(std::move(script));
    EXPECT_EQ(t.stats.repeated_blocks, 150);
    ASSERT_EQ(t.lines.size(), 3u);
    EXPECT_THAT(t.lines[1], ::testing::HasSubstr("(10 total)"));
    EXPECT_THAT(t.lines[2], ::testing::HasSubstr("(100 total)"));
}

// Blocks of the small source, modified by the tests.
class ArrivalsByHand : public ::testing::Test {
  protected:
    // Sets the duration of a block; 0: unknown line rate.
    void set_block_s(double seconds) {
        Scan scan = live_scan();
        scan.geometry.line_rate_hz = seconds == 0 ? 0 : 3 / seconds;
        arrivals_.emplace(scan.spec(1),
                          [this](const std::string& line, const std::string&) { lines_.push_back(line); });
    }

    Block block(std::int64_t number) { return source_.regular(number); }
    Block numbered(std::int64_t place, std::uint64_t sequence) {
        Block block = source_.regular(place);
        block.sequence = sequence;
        return block;
    }
    void admit_to(std::int64_t end) {
        for (std::int64_t number = 0; number < end; ++number) EXPECT_TRUE(arrivals_->admit(block(number)));
    }
    // Returns the number of clock jumps in blocks with these time stamps.
    std::int64_t jumps(const std::vector<double>& times_s, std::int64_t lost = 0) {
        const std::int64_t before = arrivals_->stats().time_jumps;
        for (const double time_s : times_s) {
            next_ += lost;
            Block next = block(next_++);
            next.time_s = time_s;
            EXPECT_TRUE(arrivals_->admit(next));
        }
        return arrivals_->stats().time_jumps - before;
    }

    FaultySource source_{live_scan(), 1, {}};
    std::vector<std::string> lines_;
    std::optional<Arrivals> arrivals_{std::in_place, source_.scan().spec(1),
                                      [this](const std::string& line, const std::string&) { lines_.push_back(line); }};
    std::int64_t next_ = 0;
};

// As after an unreported reset of the instrument's counter: up to 15 blocks may be late.
TEST_F(ArrivalsByHand, DecreasingNumbersAreError) {
    admit_to(41);
    for (std::int64_t number = 1; number < 16; ++number) EXPECT_FALSE(arrivals_->admit(block(number)));
    try {
        arrivals_->admit(block(16));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.problem(), "its numbers run backwards: block 16 of volume 4 came after block 40 of volume 10");
    }
    EXPECT_TRUE(arrivals_->admit(block(41)));
    EXPECT_EQ(arrivals_->stats().repeated_blocks, 16);
}

TEST_F(ArrivalsByHand, DecreasingPositionsAreError) {
    admit_to(40);
    for (std::uint64_t i = 0; i < 15; ++i)
        EXPECT_FALSE(arrivals_->admit(numbered(static_cast<std::int64_t>(i), 40 + i)));
    EXPECT_THROW(arrivals_->admit(numbered(15, 55)), Error);
}

// Blocks may be late often, as long as this is not a new count. Here each number or place is a repeated one.
TEST_F(ArrivalsByHand, RepeatedBlocksAreAccepted) {
    admit_to(40);
    for (int i = 0; i < 3; ++i) {
        for (std::int64_t number = 0; number < 12; ++number) EXPECT_FALSE(arrivals_->admit(block(12 * i + number)));
        EXPECT_TRUE(arrivals_->admit(block(40 + i))) << "between them one that is new";
    }
    for (std::uint64_t i = 0; i < 40; ++i) EXPECT_FALSE(arrivals_->admit(numbered(7, i))) << "of one place";
    for (std::int64_t i = 1; i < 40; ++i) EXPECT_FALSE(arrivals_->admit(numbered(i, 7))) << "of one number";
}

TEST_F(ArrivalsByHand, CountsLossAtEndOnce) {
    arrivals_->note_lost(0);
    EXPECT_TRUE(lines_.empty());
    arrivals_->note_lost(1);
    EXPECT_EQ(arrivals_->stats().lost_blocks, 1);
    EXPECT_EQ(lines_, std::vector<std::string>{"1 block lost at the end"});
}

// Time stamps may advance by three block durations and 1 s, and by as much more for each lost block.
TEST_F(ArrivalsByHand, AllowsPausesByLineRate) {
    set_block_s(10);
    EXPECT_EQ(jumps({-500}), 0) << "any time is right for the first";
    EXPECT_EQ(jumps({-500, -500}), 0) << "it may stand";
    EXPECT_EQ(jumps({-469, -438, -407}), 0) << "31 s each";
    EXPECT_EQ(jumps({-375.9}), 1);
    EXPECT_EQ(jumps({-314.9}, 1), 0) << "61 s, with one lost between";
    EXPECT_EQ(jumps({-253.8}, 1), 1);
    EXPECT_EQ(jumps({-253.9}), 1) << "back";
}

TEST_F(ArrivalsByHand, DetectsClockJumpAtSecondBlock) {
    set_block_s(10);
    EXPECT_EQ(jumps({0, 100}), 1);
}

TEST_F(ArrivalsByHand, AllowsOneSecondWithoutLineRate) {
    set_block_s(0);
    EXPECT_EQ(jumps({0, 1, 2}), 0);
    EXPECT_EQ(jumps({3.1}), 1);
}

}  // namespace
}  // namespace echolux
