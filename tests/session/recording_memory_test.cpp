// Sessions of sources with little memory: blocks kept for later setting changes never starve the source, and recording
// uses its share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute/indexing.h"
#include "noting_sink.h"
#include "recording_disks.h"

namespace echolux {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr std::int64_t b_scans = 4;

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
        RecordingRequest wanted;
        wanted.scan_toml = folder_ / "scan.toml";
        wanted.scan = source.scan();
        wanted.max_blocks_held = 1;
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
