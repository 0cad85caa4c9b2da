// Overdue events are reported: a silent source, a block that is not reconstructed, numbers that run backwards. The
// clock is real, with added leaps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/live/session.h"
#include "noting_sink.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace test;
using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

class LiveWatch : public ::testing::Test {
  protected:
    // Returns the events of a topic since the last call.
    std::vector<std::string> said(Session& session, const std::string& topic) {
        std::vector<std::string> lines;
        for (const LiveEvent& event : session.take_events()) {
            if (event.topic == topic) lines.push_back(event.line);
        }
        return lines;
    }

    LeapingThreads threads_;
    NotingSink sink_;
};

TEST(Overdue, IsReportedOnceAndEndsOnce) {
    using Clock = Overdue::Clock;
    const Clock::time_point begin{};
    Overdue block;
    EXPECT_FALSE(block.too_long(begin + 1h, 5s)) << "nobody waits";
    block.wait(begin);
    EXPECT_FALSE(block.too_long(begin + 4s, 5s));
    EXPECT_FALSE(block.end(begin + 4s)) << "it was not overdue";
    block.wait(begin);
    EXPECT_EQ(block.too_long(begin + 6s, 5s), 6.0);
    EXPECT_FALSE(block.too_long(begin + 7s, 5s)) << "it is said";
    block.wait(begin + 7s);
    EXPECT_EQ(block.end(begin + 9s), 9.0) << "since the beginning";
    EXPECT_FALSE(block.too_long(begin + 1h, 5s));
}

TEST_F(LiveWatch, ReportsSilentSourceAndItsReturn) {
    std::atomic<bool> is_triggered = false;
    struct Triggered : FaultySource {
        explicit Triggered(std::atomic<bool>& by) : FaultySource(live_scan(), 1, {test::send()}), trigger(by) {}
        Arrival next(std::chrono::milliseconds timeout) override {
            if (trigger) return FaultySource::next(timeout);
            return nothing_until([this] { return !running() || trigger; }, timeout);
        }
        std::atomic<bool>& trigger;
    } source(is_triggered);
    Session session(source, sink_, Overload::newest_wins, {.threads = &threads_});
    session.start();
    EXPECT_THAT(said(session, "silence"), ElementsAre());
    threads_.leap(6s);
    EXPECT_THAT(said(session, "silence"), ElementsAre(HasSubstr("no data from the source for 6 s")));
    threads_.leap(6s);
    EXPECT_THAT(said(session, "silence"), ElementsAre());
    is_triggered = true;
    source.wake();
    AWAIT(session.stats().arrived.blocks > 0);
    EXPECT_THAT(said(session, "silence"), ElementsAre(HasSubstr("blocks arrive again after 12 s")));
    session.stop();
    threads_.leap(1h);
    EXPECT_THAT(said(session, "silence"), ElementsAre()) << "nobody waits for a source that is stopped";
}

// A source without data for 1 s is late, before it is reported as silent.
TEST_F(LiveWatch, SourceIsLateAfterOneSecond) {
    FaultySource source(live_scan(), 1, {test::send(4), stall(for_ever)});
    Session session(source, sink_, Overload::newest_wins, {.threads = &threads_});
    EXPECT_FALSE(session.stats().is_late);
    session.start();
    AWAIT(session.stats().arrived.blocks == 4);
    threads_.leap(1100ms);
    EXPECT_TRUE(session.stats().is_late);
    EXPECT_THAT(said(session, "silence"), ElementsAre());
    session.stop();
    EXPECT_FALSE(session.stats().is_late) << "nobody waits for a source that is stopped";
}

TEST_F(LiveWatch, LostSourceHasFailedUntilItSendsAgain) {
    FaultySource lost(live_scan(), 1, {test::send(4), disconnect(), stall(for_ever)});
    Session session(lost, sink_, Overload::newest_wins, {.threads = &threads_});
    session.start();
    AWAIT(session.stats().has_failed);
    AWAIT(session.stats().reconnections > 0);
    EXPECT_TRUE(session.stats().has_failed) << "no block since";
    session.stop();
    FaultySource back(live_scan(), 1, {test::send(4), disconnect(), test::send(4), stall(for_ever)});
    Session again(back, sink_, Overload::newest_wins, {.threads = &threads_});
    again.start();
    AWAIT(again.stats().arrived.blocks == 8);
    EXPECT_FALSE(again.stats().has_failed);
}

TEST_F(LiveWatch, AcceptsSilenceOfRequestedSource) {
    struct Asked : FaultySource {
        Asked() : FaultySource(live_scan(), 1, {stall(for_ever)}) {}
        const SourceCapabilities& capabilities() const override { return asked; }
        SourceCapabilities asked{.sends_when_asked = true};
    } source;
    Session session(source, sink_, Overload::newest_wins, {.threads = &threads_});
    session.start();
    threads_.leap(60s);
    EXPECT_THAT(said(session, "silence"), ElementsAre());
}

TEST_F(LiveWatch, ReportsStuckReconstruction) {
    FaultySource source(live_scan(), 1, {test::send(), end()});
    std::atomic<bool> is_stuck = true;
    std::atomic<bool> has_begun = false;
    sink_.on_feed = [&](const Block&) {
        has_begun = true;
        AWAIT(!is_stuck);
    };
    Session session(source, sink_, Overload::newest_wins, {.threads = &threads_});
    session.start();
    AWAIT(has_begun.load());
    EXPECT_THAT(said(session, "stuck"), ElementsAre());
    threads_.leap(11s);
    EXPECT_THAT(said(session, "stuck"), ElementsAre(HasSubstr("reconstructing a block has taken 11 s so far")));
    is_stuck = false;
    AWAIT(session.stats().fed_blocks > 1);
    EXPECT_THAT(said(session, "stuck"), ElementsAre(HasSubstr("reconstruction continues after")));
}

// A GPU that never finishes delays the end of the session, but not that of its recording.
TEST_F(LiveWatch, CompletesRecordingDespiteStuckReconstruction) {
    const TemporaryFolder folder;
    FaultySource source(live_scan(), 1, {test::send(8), end()});
    const auto is_complete = [&] {
        try {
            return open_scan(folder / "scan.toml").recording.complete;
        } catch (const Error&) {  // cannot be opened yet
            return false;
        }
    };
    std::atomic<bool> was_complete = false;
    sink_.on_feed = [&](const Block&) {
        if (was_complete) return;
        AWAIT(is_complete());
        was_complete = true;
    };
    {
        Session session(source, sink_);
        RecordingRequest wanted{.scan_toml = folder / "scan.toml", .scan = source.scan()};
        session.record(wanted);
        session.start();
        AWAIT(session.stats().recorder->blocks == 8);
    }
    EXPECT_TRUE(was_complete);
}

// Otherwise a camera whose counter restarts would be rejected forever.
TEST_F(LiveWatch, RestartsSourceAfterDecreasingNumbers) {
    struct Resetting : FaultySource {
        Resetting() : FaultySource(live_scan(), 1, {test::send(200), end()}) {}
        Arrival next(std::chrono::milliseconds timeout) override {
            Arrival arrival = FaultySource::next(timeout);
            if (arrival.kind == Arrival::Kind::block && starts() == 1 && arrival.block.sequence >= 100) {
                arrival.block.sequence -= 100;
                arrival.block.volume -= 25;
            }
            return arrival;
        }
    } source;
    Session session(source, sink_);
    run_to_end(session);
    const LiveStats stats = session.stats();
    EXPECT_EQ(source.starts(), 2);
    EXPECT_EQ(stats.reconnections, 1);
    EXPECT_EQ(stats.arrived.repeated_blocks, 16);
    EXPECT_EQ(stats.arrived.blocks, 200 - 16);
    EXPECT_THAT(session.take_events(),
                Contains(Field(&LiveEvent::line, HasSubstr("numbers run backwards: block 15 of volume 3 came after "
                                                           "block 99 of volume 24"))));
    expect_balance(stats);
}

}  // namespace
}  // namespace echolux
