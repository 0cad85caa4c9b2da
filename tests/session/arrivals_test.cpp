// What a source sends is never trusted: each kind of trouble is kept out or noted, counted, and said without a flood.
#include "engine/live/arrivals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "faulty_source.h"
#include "live_plan.h"

namespace echolux {
namespace {

using namespace testing;
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

TEST(Arrivals, TakesInWhatIsAsItShouldBe) {
    const Trial t = trial({send(9), end()});
    EXPECT_EQ(t.stats.blocks, 9);
    EXPECT_EQ(t.stats.volumes, 2);
    EXPECT_EQ(t.stats.lines, 27);
    EXPECT_EQ(t.stats.bytes, 9 * 3 * 128);
    EXPECT_EQ(t.lines.size(), 0u);
}

TEST(Arrivals, KeepsOutRepeatedAndLateBlocks) {
    const Trial t = trial({send(2), repeat(), exchange(), send(1), end()});
    EXPECT_EQ(t.admitted, (std::vector<std::uint64_t>{0, 1, 3, 4}));
    EXPECT_EQ(t.stats.repeated, 2);
    EXPECT_EQ(t.stats.lost, 1) << "block 2 came too late";
    EXPECT_EQ(t.lines.size(), 2u);
}

TEST(Arrivals, CountsLossesOnceHoweverTheSourceSaysSo) {
    const Trial t = trial({send(2), lose(3), send(2), end()});
    EXPECT_EQ(t.stats.lost, 3);
    EXPECT_EQ(t.stats.blocks, 4);
    ASSERT_EQ(t.lines.size(), 1u);
    EXPECT_EQ(t.lines[0], "lost 3 blocks before block 5");
}

TEST(Arrivals, KeepsOutWhatHasTheWrongShape) {
    const Trial t = trial({send(1), cut_short(), oversize(), misplace(), send(1), end()});
    EXPECT_EQ(t.stats.misshapen, 3);
    EXPECT_EQ(t.stats.blocks, 2);
    EXPECT_EQ(t.lines.size(), 2u) << "one of the shape, one of the gap that they leave";
}

TEST(Arrivals, NotesClocksThatLeap) {
    const Trial t = trial({send(3), jump(-0.1), send(1), jump(60), send(1), jump(std::nan("")), send(2), end()});
    EXPECT_EQ(t.stats.time_jumps, 4);
    EXPECT_EQ(t.stats.blocks, 7) << "they are used all the same";
}

TEST(Arrivals, SaysOftenRepeatedTroubleSeldom) {
    std::vector<Fault> script{send(1)};
    for (int i = 0; i < 150; ++i) script.push_back(repeat());
    script.push_back(end());
    const Trial t = trial(std::move(script));
    EXPECT_EQ(t.stats.repeated, 150);
    EXPECT_EQ(t.lines.size(), 3u) << "at 1, 10 and 100";
}

// As after a reset of the instrument's counter, of which nothing is said: 15 may be late, not more.
TEST(Arrivals, NumbersThatRunBackwardsAreAFailure) {
    FaultySource source(live_scan(), 1, {});
    Arrivals arrivals(source.scan().spec(1), [](const std::string&, const std::string&) {});
    for (std::int64_t number = 0; number < 40; ++number) arrivals.admit(source.regular(number));
    for (std::int64_t number = 0; number < 15; ++number) EXPECT_FALSE(arrivals.admit(source.regular(number)));
    EXPECT_THROW(arrivals.admit(source.regular(15)), Error);
    EXPECT_TRUE(arrivals.admit(source.regular(40)));
    EXPECT_EQ(arrivals.stats().repeated, 16);
}

TEST(Arrivals, SoArePlacesThatRunBackwards) {
    FaultySource source(live_scan(), 1, {});
    Arrivals arrivals(source.scan().spec(1), [](const std::string&, const std::string&) {});
    for (std::int64_t number = 0; number < 40; ++number) arrivals.admit(source.regular(number));
    const auto back = [&](std::int64_t number) {
        Block block = source.regular(number);
        block.sequence += 40;
        return arrivals.admit(block);
    };
    for (std::int64_t number = 0; number < 15; ++number) EXPECT_FALSE(back(number));
    EXPECT_THROW(back(15), Error);
}

}  // namespace
}  // namespace echolux
