// The live system with failing sources, slow sinks and little memory: nothing waits forever, every loss is counted, and
// nothing ends the session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute/indexing.h"
#include "engine/live/session.h"
#include "noting_sink.h"
#include "recording_disks.h"

namespace echolux {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
using namespace test;

constexpr std::int64_t b_scans = 4;

TEST(Session, ReconstructsEveryBlockInOrder) {
    NotingSink sink;
    Paced source({send(40), end()}, sink);
    Session session(source, sink);
    run_to_end(session);
    const auto fed = sink.fed();
    ASSERT_EQ(fed.size(), 40u);
    for (std::int64_t i = 0; i < 40; ++i) {
        EXPECT_EQ(fed[index(i)], (NotingSink::Fed{i / b_scans, i % b_scans, 45}));
    }
    const LiveStats f = session.stats();
    EXPECT_EQ(f.finished_volumes, 10);
    EXPECT_EQ(f.fed_lines, 120);
    EXPECT_EQ(f.waiting.count(), 40);
    EXPECT_EQ(f.arrived.lost_blocks, 0);
    expect_balance(f);
}

// While the sink is busy with volume 0, a hundred volumes arrive: it finishes volume 0 and continues with the last.
TEST(Session, SlowSinkGetsNewestVolumeWithBoundedMemory) {
    FaultySource source(live_scan(), 1, {send(101 * b_scans), end()});
    NotingSink sink;
    std::atomic<bool> go = false;
    sink.on_feed = [&](const Block&) { AWAIT(go.load()); };
    Session session(source, sink);
    session.start();
    AWAIT(session.stats().ended);
    EXPECT_LE(session.stats().queue.max_waiting_blocks, 2 * b_scans);
    go = true;
    session.stop();
    ASSERT_TRUE(session.drain(1h));
    const auto fed = sink.fed();
    ASSERT_EQ(fed.size(), 2u * b_scans);
    EXPECT_EQ(fed.front().volume, 0);
    EXPECT_EQ(fed.back(), (NotingSink::Fed{100, b_scans - 1, 45}));
    const LiveStats f = session.stats();
    EXPECT_EQ(f.queue.overtaken_volumes, 99);
    EXPECT_EQ(f.queue.overtaken_blocks, 99 * b_scans);
    expect_balance(f);
}

// A display may be lost and replaced while the session runs.
TEST(Session, DropsVolumesWithoutSink) {
    NotingSink sink;
    FaultySource source(live_scan(), 1, {send()});
    Session session(source);
    session.start();
    AWAIT(session.stats().dropped_volumes > 2);
    EXPECT_EQ(session.stats().finished_volumes, 0);
    session.attach(sink);
    AWAIT(session.stats().finished_volumes > 2);
    session.detach();
    const std::size_t fed = sink.fed().size();
    const std::int64_t dropped = session.stats().dropped_volumes;
    AWAIT(session.stats().dropped_volumes > dropped + 2);
    EXPECT_EQ(sink.fed().size(), fed) << "a call after detach()";
    session.stop();
}

// The last blocks are reconstructed after the source has stopped; that time counts as well.
TEST(Session, LoadNeverExceedsOne) {
    FaultySource source(live_scan(), 1, {send(2 * b_scans), end()});
    NotingSink sink;
    LeapingThreads threads;
    std::atomic<bool> has_ended = false;
    sink.on_feed = [&](const Block&) {
        AWAIT(has_ended.load());
        threads.leap(1h);
    };
    Session session(source, sink, Overload::newest_wins, {.threads = &threads});
    session.start();
    AWAIT(session.stats().ended);
    session.stop();
    has_ended = true;
    ASSERT_TRUE(session.drain(24h));
    AWAIT(session.stats().fed_blocks == 2 * b_scans);
    const LiveStats f = session.stats();
    EXPECT_LT(f.seconds, 3600) << "else this tests nothing";
    EXPECT_LE(f.load, 1.0);
    EXPECT_GT(f.load, 0.5);
}

TEST(Session, RestartsDisconnectedSourceAndContinuesNumbers) {
    NotingSink sink;
    FaultySource source(live_scan(), 1, {send(6), disconnect(), send(8), end()});
    source.refuse_starts(0);
    Session session(source, sink);
    session.start();
    source.refuse_starts(1);
    AWAIT(session.stats().ended);
    session.stop();
    ASSERT_TRUE(session.drain(1h));
    const LiveStats f = session.stats();
    EXPECT_EQ(f.reconnections, 1);
    EXPECT_EQ(f.arrived.blocks, 14);
    EXPECT_EQ(f.arrived.repeated_blocks, 0);
    EXPECT_EQ(sink.fed().back().volume, 3) << "volumes 0, 1 (cut), 2, 3";
    const auto events = session.take_events();
    EXPECT_THAT(events, Contains(Field(&LiveEvent::line, HasSubstr("was disconnected"))));
    EXPECT_THAT(events, Contains(Field(&LiveEvent::line, HasSubstr("resumed after"))));
    expect_balance(f);
}

TEST(Session, StopsWithoutWaitingForDisconnectedSource) {
    NotingSink sink;
    FaultySource source(live_scan(), 1, {send(2), disconnect()});
    Session session(source, sink);
    session.start();
    source.refuse_starts(1 << 30);
    AWAIT(session.stats().arrived.blocks == 2);
    session.stop();
    EXPECT_FALSE(session.stats().running);
}

TEST(Session, RejectedBlocksNeverReachSink) {
    NotingSink sink;
    FaultySource source(live_scan(), 1,
                        {send(4), cut_short(), oversize(), misplace(), repeat(), exchange(), send(11), end()});
    Session session(source, sink);
    run_to_end(session);
    for (const auto& fed : sink.fed()) {
        EXPECT_GE(fed.first_b_scan, 0);
        EXPECT_LT(fed.first_b_scan, b_scans);
    }
    const LiveStats f = session.stats();
    EXPECT_EQ(f.arrived.misshapen_blocks, 4) << "one of them twice";
    expect_balance(f);
}

// Sends the next block when the queue is empty.
class PacedByTheQueue : public FaultySource {
  public:
    explicit PacedByTheQueue(std::vector<Fault> script) : FaultySource(live_scan(), 1, std::move(script)) {}
    Arrival next(std::chrono::milliseconds timeout) override {
        AWAIT(session->stats().queue.waiting_blocks == 0);
        return FaultySource::next(timeout);
    }

    Session* session = nullptr;
};

TEST(Session, ReconstructionErrorCostsOneVolume) {
    NotingSink sink;
    sink.on_feed = [](const Block& block) {
        if (block.volume == 1 && block.first_b_scan == 2) throw Error(ErrorCode::device, "the GPU sneezed", "sink");
    };
    PacedByTheQueue source({send(8), stall(2), send(8), end()});
    Session session(source, sink);
    source.session = &session;
    run_to_end(session);
    const LiveStats f = session.stats();
    EXPECT_EQ(f.failed_volumes, 1);
    EXPECT_EQ(f.finished_volumes, 3);
    EXPECT_EQ(sink.fed().back().volume, 3);
    EXPECT_THAT(session.take_events(), Contains(Field(&LiveEvent::line, HasSubstr("sneezed"))));
    expect_balance(f);
}

// Without new data, a changed setting reprocesses the last whole volume, however often it changes.
TEST(Session, ChangedSettingReprocessesLastVolumeWithoutNewData) {
    NotingSink sink;
    Paced source({send(6), end()}, sink);  // volume 0, half of volume 1
    Session session(source, sink);
    run_to_end(session);
    session.look_at(2);
    session.change(spec_with(source, 60));
    AWAIT(session.stats().reprocessed_volumes == 1);
    const auto fed = sink.fed();
    ASSERT_EQ(fed.size(), 11u);
    EXPECT_EQ(fed[6], (NotingSink::Fed{-1, 2, 60})) << "what is looked at comes first";
    for (std::int64_t b = 0; b < b_scans; ++b) {
        EXPECT_EQ(fed[index(7 + b)], (NotingSink::Fed{0, b, 60}));
    }
    EXPECT_EQ(session.stats().changes, 1);
}

TEST(Session, RejectsOrReportsInvalidSettings) {
    NotingSink sink;
    FaultySource source(live_scan(), 1, {send(4), end()});
    Session session(source, sink);
    ReconstructionSpec impossible = spec_with(source, 50);
    impossible.recipe.depth_begin = 1000;
    EXPECT_THROW(session.change(impossible), Error);
    session.change(spec_with(source, 13));
    run_to_end(session);
    EXPECT_THAT(session.take_events(), Contains(Field(&LiveEvent::line, HasSubstr("13 is too much"))));
    EXPECT_EQ(session.stats().changes, 0);
}

TEST(Session, SurvivesTwoHundredRestarts) {
    NotingSink sink;
    FaultySource source(live_scan(), 1, {send()});
    Session session(source, sink);
    for (int i = 0; i < 200; ++i) {
        session.start();
        if (i % 3 != 0) AWAIT(session.stats().arrived.blocks > 0);
        session.stop();
    }
    EXPECT_EQ(source.starts(), 200);
    EXPECT_FALSE(source.running());
}

TEST(Session, ResetsStatisticsAtEachStart) {
    NotingSink sink;
    sink.drops = true;
    FaultySource source(live_scan(), 1, {send()});
    Session session(source, sink);
    for (int i = 0; i < 3; ++i) {
        session.start(1);
        AWAIT(session.stats().ended);
        session.stop();
        ASSERT_TRUE(session.drain(1h));
        EXPECT_EQ(session.stats().arrived.volumes, 1);
        EXPECT_EQ(session.stats().dropped_volumes, 1);
    }
}

TEST(Session, MeasuresLatencyFromLastBlockToFirstPicture) {
    NotingSink sink;
    FaultySource source(live_scan(), 1, {send(12), end()});
    Session session(source, sink);
    run_to_end(session);
    session.shown(1);
    session.shown(1);
    session.shown(2);
    EXPECT_EQ(session.stats().shown.count(), 2);
}

// Has memory for `most` blocks at a time; ends if none is returned.
class Scarce : public Paced {
  public:
    Scarce(std::int64_t most, std::vector<Fault> script, NotingSink& sink)
        : Paced(std::move(script), sink), max_(most) {}

    std::int64_t pool_blocks() const override { return max_; }

    Arrival next(std::chrono::milliseconds timeout) override {
        if (!becomes_true([&] { return *in_use_ < max_; })) return {Arrival::Kind::ended, {}};
        Arrival arrival = Paced::next(timeout);
        if (arrival.kind != Arrival::Kind::block) return arrival;
        ++*in_use_;
        std::shared_ptr<const void>& keeper = arrival.block.keeper;
        keeper = {arrival.block.data, [in_use = in_use_, memory = keeper](const void*) { --*in_use; }};
        return arrival;
    }

  private:
    std::int64_t max_;
    std::shared_ptr<std::atomic<std::int64_t>> in_use_ = std::make_shared<std::atomic<std::int64_t>>(0);
};

void expect_every_block(const NotingSink& sink, std::int64_t blocks) {
    const auto fed = sink.fed();
    ASSERT_EQ(std::ssize(fed), blocks);
    for (std::int64_t i = 0; i < blocks; ++i) {
        EXPECT_EQ(fed[index(i)], (NotingSink::Fed{i / b_scans, i % b_scans, 45}));
    }
}

TEST(SessionMemory, SmallPoolStillSendsEveryBlock) {
    for (const std::int64_t most : {std::int64_t{1}, std::int64_t{2}, 4 * b_scans - 1}) {
        SCOPED_TRACE(most);
        NotingSink sink;
        Scarce source(most, {send(24), end()}, sink);
        {
            Session session(source, sink);
            run_to_end(session);
            EXPECT_EQ(session.stats().finished_volumes, 6);
            expect_balance(session.stats());
            session.change(spec_with(source, 60));
            AWAIT(session.stats().changes == 1);
        }
        expect_every_block(sink, 24);  // not reprocessed, because its blocks were not kept
    }
}

TEST(SessionMemory, PoolOfFourVolumesKeepsLastOne) {
    NotingSink sink;
    Scarce source(4 * b_scans, {send(24), end()}, sink);
    Session session(source, sink);
    run_to_end(session);
    expect_every_block(sink, 24);
    session.change(spec_with(source, 60));
    AWAIT(session.stats().reprocessed_volumes == 1);
    const auto fed = sink.fed();
    ASSERT_EQ(fed.size(), 24u + 1 + b_scans);
    EXPECT_EQ(fed.back(), (NotingSink::Fed{5, b_scans - 1, 60}));
}

class RecordingMemory : public ::testing::Test {
  protected:
    RecordingRequest wanted(const Source& source) const {
        RecordingRequest wanted{.scan_toml = folder_ / "scan.toml", .scan = source.scan(), .max_blocks_held = 1};
        return wanted;
    }

    TemporaryFolder folder_;
    NotingSink sink_;
};

// The source waits for the sink and the sink for the disk, so the disk is fast enough.
TEST_F(RecordingMemory, SmallPoolRecordsAndReconstructsEveryBlock) {
    Scarce source(2, {send(24), end()}, sink_);
    Session session(source, sink_);
    sink_.on_feed = [&](const Block&) { AWAIT(session.stats().recorder->blocks_held == 0); };
    session.record(wanted(source));
    run_to_end(session);
    const RecorderStats stats = session.stop_recording();
    EXPECT_EQ(stats.blocks, 24);
    EXPECT_EQ(stats.missing_blocks, 0);
    EXPECT_EQ(stats.max_blocks_held, 1);
    expect_every_block(sink_, 24);
    EXPECT_EQ(open_scan(folder_ / "scan.toml").recording.missing_blocks, 0);
}

TEST_F(RecordingMemory, ReportsMissingFilesWithoutBlocks) {
    FaultySource source(live_scan(), 1, {end()});
    Session session(source, sink_);
    session.record(wanted(source));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "scan.toml"));
    run_to_end(session);
    EXPECT_EQ(session.stop_recording().blocks, 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / ""));
    EXPECT_THAT(session.take_events(), Contains(Field(&LiveEvent::line, HasSubstr("no block was recorded"))));
}

}  // namespace
}  // namespace echolux
