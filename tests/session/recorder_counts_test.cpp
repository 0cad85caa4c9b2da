// The exact numbers in the index, the TOML and the counts.
#include <fmt/chrono.h>

#include <array>

#include "recorder_fixture.h"

namespace echolux {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::filesystem::path& path) {
    const Bytes bytes = bytes_of(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A recorder of one block at a time whose disk stops at block 1: blocks from 2 on are dropped until it continues.
class RecorderCountsTest : public RecorderTest {
  protected:
    void begin() {
        RecordingRequest one_at_a_time = wanted();
        one_at_a_time.max_blocks_held = 1;
        recorder_.emplace(one_at_a_time, watched_raw([this](std::int64_t place, std::span<const std::byte>) {
                              if (place == 0) return;
                              ++writing_;
                              gate_.pass();
                          }));
        offer_slowly(*recorder_, 0, 1);
        EXPECT_TRUE(recorder_->offer(source_.block(1, &alive_)));
        ASSERT_TRUE(becomes_true([this] { return writing_ == 1; }));
    }
    void expect_left_out(std::int64_t number) {
        EXPECT_FALSE(recorder_->offer(source_.block(number, &alive_)));
        EXPECT_EQ(alive_, 1) << "only the one that is being written is in memory";
    }
    void go_on(std::int64_t next) {
        gate_.open();
        ASSERT_TRUE(becomes_true([this] { return recorder_->stats().blocks_held == 0; }));
        offer_slowly(*recorder_, next, next + 1);
        recorder_->finish();
    }

    Gate gate_;
    std::atomic<int> writing_ = 0, alive_ = 0;
    std::optional<Recorder> recorder_;
};

TEST_F(RecorderCountsTest, CountsOneSkippedBlock) {
    begin();
    expect_left_out(2);
    EXPECT_EQ(line_of_problem(*recorder_), raw_.string() +
                                               ": the disk is too slow: 1 block missing (record to a faster "
                                               "disk, at a lower rate, or with more blocks)");
    go_on(3);
    const std::vector<IndexRow> rows = this->rows();
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[2].sequence, 2U);
    EXPECT_EQ(rows[2].missing, 1);
    EXPECT_EQ(rows[2].bytes, 0);
    EXPECT_EQ(rows[2].byte_offset, rows[1].end());
    EXPECT_EQ(rows[1].missing + rows[3].missing, 0);
    EXPECT_EQ(bytes_of(raw_), source_.file(4, {2}));
    EXPECT_EQ(open_scan(toml_).recording.missing_blocks, 1);
}

TEST_F(RecorderCountsTest, AddsUpLossesOfSkippedBlocks) {
    begin();
    expect_left_out(2);
    expect_left_out(4);
    recorder_->note_interruption();
    recorder_->note_lost(3);
    expect_left_out(8);
    go_on(9);
    const std::vector<IndexRow> rows = this->rows();
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[2].missing, 3);
    EXPECT_EQ(rows[2].lost_before, 4);
    EXPECT_EQ(rows[2].interruptions, 1);
    const RecordingNotes notes = open_scan(toml_).recording;
    EXPECT_EQ(notes.missing_blocks, 3);
    EXPECT_EQ(notes.lost_blocks, 4);
    EXPECT_EQ(recorder_->stats().lost_blocks, 4);
    EXPECT_EQ(notes.interruptions, 1);
}

TEST_F(RecorderCountsTest, CountsGapsInNumbersAsLosses) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 2);
    for (const std::int64_t number : {3, 4, 7}) ASSERT_TRUE(recorder.offer(source_.block(number)));
    recorder.finish();
    EXPECT_EQ(recorder.stats().lost_blocks, 3);
    EXPECT_EQ(recorder.stats().durable_blocks, 5) << "all of them, once it is finished";
    EXPECT_EQ(recorder.stats().blocks, 5);
    const std::vector<IndexRow> rows = this->rows();
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(rows[2].lost_before, 1);
    EXPECT_EQ(rows[3].lost_before, 0);
    EXPECT_EQ(rows[4].lost_before, 2);
}

// Properties of the replayed file are not recorded: its header and trailer and its number of volumes.
TEST_F(RecorderCountsTest, OmitsPropertiesOfReplayedFile) {
    RecordingRequest replayed = wanted();
    replayed.scan.file.offset_bytes = 512;
    replayed.scan.file.trailer_bytes = 40;
    replayed.scan.geometry.volumes = 9;
    Recorder recorder(replayed);
    EXPECT_THAT(text_of(toml_), Not(HasSubstr("volumes = 9")));
    const Bytes unfinished = bytes_of(toml_);
    offer_slowly(recorder, 0, 3);
    recorder.finish();
    for (const bool is_cut : {false, true}) {
        if (is_cut) put(toml_, unfinished);
        const Scan scan = open_scan(toml_);
        EXPECT_EQ(scan.file.offset_bytes, 0);
        EXPECT_EQ(scan.file.trailer_bytes, 0);
        EXPECT_EQ(scan.geometry.volumes, 1);
        expect_opens_with(toml_, source_, 3);
    }
}

TEST_F(RecorderCountsTest, StoresStartTime) {
    const auto now = [] {
        const auto us = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
        return fmt::format("{:%Y-%m-%dT%H:%M}:{:%S}Z", us, us.time_since_epoch());
    };
    const std::string before = now();
    Recorder recorder(wanted());
    const std::string after = now();
    offer_slowly(recorder, 0, 1);
    recorder.finish();
    const std::string started = open_scan(toml_).recording.started;
    EXPECT_LE(before, started);
    EXPECT_LE(started, after);
    const std::string arrived = rows()[0].arrived_utc;
    EXPECT_LE(after, arrived);
    EXPECT_LE(arrived, now());
}

// The header and stride of B-scans must be those of the scan; 0 means no header.
TEST_F(RecorderCountsTest, RequiresFrameLayoutOfScan) {
    for (const std::int64_t header : {0, 32}) {
        source_.header = header;
        for (const auto& [offset, stride, fits] : std::initializer_list<std::tuple<std::int64_t, std::int64_t, bool>>{
                 {header, source_.frame_bytes(), true},
                 {header, 0, header == 0},
                 {header, source_.frame_bytes() + 2, false},
                 {header + 2, source_.frame_bytes(), false}}) {
            RecordingRequest again = wanted();
            again.replace = true;
            Recorder recorder(again);
            Block block = source_.block(0);
            block.frames = {offset, stride};
            EXPECT_EQ(recorder.offer(block), fits) << header << " " << offset << " " << stride;
            recorder.finish();
            EXPECT_EQ(recorder.stats().refused_blocks, fits ? 0 : 1);
        }
    }
}

// A file without preallocation.
class UnreservedFile final : public DurableFile {
  public:
    explicit UnreservedFile(std::unique_ptr<DurableFile> file) : file_(std::move(file)) {}
    void write(std::int64_t place, std::span<const std::byte> bytes) override { file_->write(place, bytes); }
    bool reserve(std::int64_t) override { return false; }
    void sync() override { file_->sync(); }
    void end_at(std::int64_t size) override { file_->end_at(size); }

  private:
    std::unique_ptr<DurableFile> file_;
};

// As KeepsHoleAtEndAfterPowerCut, on a file system without preallocation.
TEST_F(RecorderCountsTest, WritesHoleAtEndAtOnce) {
    RecordingTools tools = RecordingTools::real();
    tools.open_raw = [open = tools.open_index](const std::filesystem::path& path) {
        return std::make_unique<UnreservedFile>(open(path));
    };
    Recorder recorder(wanted(), tools);
    for (std::int64_t number = 0; number < 3; ++number) {
        Block block = source_.block(number);
        if (number == 2) block.bytes -= source_.frame_bytes() * source_.flyback_frames;
        EXPECT_TRUE(recorder.offer(block));
    }
    ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks == 3; }));
    EXPECT_EQ(static_cast<std::int64_t>(std::filesystem::file_size(raw_)), source_.volume_bytes());
}

class NoThreads final : public Threads {
  public:
    Clock::time_point now() override { return Clock::now(); }
    LiveThread start(Work) override { throw Error(ErrorCode::out_of_memory, "no thread can be started"); }
    bool wait(std::unique_lock<std::mutex>&, std::condition_variable_any&, const std::stop_token&, Clock::time_point,
              const std::function<bool()>&) override {
        return true;
    }
};

TEST_F(RecorderCountsTest, FailedStartLeavesNoFiles) {
    NoThreads threads;
    RecordingTools tools = RecordingTools::real();
    tools.threads = &threads;
    EXPECT_THROW(Recorder(wanted(), tools), Error);
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
}

}  // namespace
}  // namespace echolux
