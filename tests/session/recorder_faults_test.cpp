// A recorder's refusals, and its behaviour with full or slow disks or without blocks: everything is reported, counted
// and marked, and nothing else is affected.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <array>
#include <csignal>

#include "recorder_fixture.h"

namespace echolux {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST_F(RecorderTest, ReplacesFilesOnlyOnRequest) {
    { Recorder(wanted()).offer(source_.block(0)); }
    const Bytes before = bytes_of(raw_);
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted()); }).line, HasSubstr("scan.toml: already exists"));
    std::filesystem::remove(toml_);
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted()); }).line, HasSubstr("scan.raw: already exists"));
    EXPECT_EQ(bytes_of(raw_), before);
}

TEST_F(RecorderTest, AScanCannotReplaceItsSource) {
    { Recorder(wanted()).offer(source_.block(0)); }
    RecordingRequest itself = wanted();
    itself.played_files = {folder_ / "other.raw", raw_};
    itself.replace = true;
    EXPECT_THAT(error_of([&] { Recorder recorder(itself); }).line, HasSubstr("is being replayed"));
    EXPECT_EQ(bytes_of(raw_), source_.file(1));
}

TEST_F(RecorderTest, RejectsImpossibleRecordingsAtStart) {
    RecordingRequest huge = wanted();
    huge.expected_bytes = std::int64_t{1} << 58;
    EXPECT_THAT(error_of([&] { Recorder recorder(huge); }).line, HasSubstr("GB are free"));
    RecordingRequest starved = wanted();
    starved.max_blocks_held = 0;
    EXPECT_THAT(error_of([&] { Recorder recorder(starved); }).line, HasSubstr("hold at least one block"));
    EXPECT_FALSE(std::filesystem::exists(raw_));
}

TEST_F(RecorderTest, RejectsMismatchedBlocksOnly) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 4);
    std::vector<Block> misfits(7, source_.block(4));
    misfits[0] = source_.block(3);
    misfits[1].bytes -= 2;
    misfits[2].frames.offset_bytes = 0;
    misfits[3].memory = MemoryKind::device;
    misfits[4].b_scans = 5;
    misfits[5].volume = -1;
    misfits[6] = source_.block(5);
    misfits[6].bytes += 1;
    const std::array says{"is repeated",
                          "has 12862 bytes, 12864 are expected",
                          "headers of 0 bytes",
                          "is in GPU memory",
                          "has 5 B-scans from 3 on: a volume has 7",
                          "has 3 B-scans",
                          "has 6433 bytes, 6432 are expected, or 4288 without the flyback frames"};
    for (std::size_t i = 0; i < misfits.size(); ++i) {
        EXPECT_FALSE(recorder.offer(misfits[i]));
        EXPECT_THAT(line_of_problem(recorder), HasSubstr(says[i]));
    }
    EXPECT_FALSE(recorder.offer(misfits[1]));
    EXPECT_THAT(line_of_problem(recorder), EndsWith("12864 are expected")) << "no flyback frames come behind it";
    offer_slowly(recorder, 4, 6);
    recorder.finish();
    EXPECT_EQ(recorder.stats().refused_blocks, 8);
    EXPECT_EQ(recorder.stats().missing_blocks, 0);
    EXPECT_EQ(bytes_of(raw_), source_.file(6));
}

TEST_F(RecorderTest, SlowDiskCostsOnlyRecordedBlocksAndIsReportedAtOnce) {
    Gate gate;
    std::atomic<int> writing = 0;
    RecordingRequest share = wanted();
    share.max_blocks_held = 2;
    Recorder recorder(share, watched_raw([&](std::int64_t place, std::span<const std::byte>) {
                          if (place == 0) return;
                          ++writing;
                          gate.pass();
                      }));
    std::atomic<int> alive = 0;
    EXPECT_TRUE(recorder.offer(source_.block(0, &alive)));
    ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks_held == 0; }));
    EXPECT_TRUE(recorder.offer(source_.block(1, &alive)));
    ASSERT_TRUE(becomes_true([&] { return writing == 1; }));
    EXPECT_TRUE(recorder.offer(source_.block(2, &alive)));
    for (std::int64_t number = 3; number < 11; ++number) {
        EXPECT_FALSE(recorder.offer(source_.block(number, &alive)));
        EXPECT_EQ(alive, 2) << "the recorder holds its share and no more";
    }
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("the disk is too slow: 8 blocks missing"));
    EXPECT_EQ(recorder.stats().missing_blocks, 8);
    EXPECT_EQ(recorder.stats().max_blocks_held, 2);
    gate.open();
    ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks_held == 0; }));
    offer_slowly(recorder, 11, 12);
    recorder.finish();
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(bytes_of(raw_), source_.file(12, {3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(open_scan(toml_).recording.missing_blocks, 8);
    EXPECT_EQ(open_scan(toml_).geometry.volumes, 4);
    const std::vector<IndexRow> rows = this->rows();
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(rows[3].sequence, 3U);
    EXPECT_EQ(rows[3].missing, 8);
    EXPECT_EQ(rows[3].byte_offset, source_.volume_bytes());
    EXPECT_EQ(rows[3].bytes, 0);
    EXPECT_EQ(rows[4].sequence, 11U);
}

// The soft limit on file sizes, which acts like a full disk.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(std::int64_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = static_cast<rlim_t>(bytes);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_{};
};

TEST_F(RecorderTest, ReportsFullDiskAndResumesWithFreeSpace) {
    Recorder recorder(wanted());
    {
        const FileSizeLimit limit(40960);  // three blocks and part of the fourth
        offer_slowly(recorder, 0, 3);
        EXPECT_EQ(line_of_problem(recorder), "");
        offer_slowly(recorder, 3, 5);
        EXPECT_THAT(line_of_problem(recorder),
                    HasSubstr("scan.raw: cannot be written: File too large (free some space"));
        EXPECT_EQ(recorder.stats().missing_blocks, 2);
    }
    offer_slowly(recorder, 5, 9);
    recorder.finish();
    EXPECT_EQ(recorder.stats().blocks, 7);
    const Scan scan = open_scan(toml_);
    EXPECT_EQ(scan.geometry.volumes, 3);
    EXPECT_EQ(scan.recording.missing_blocks, 2);
    const std::vector<IndexRow> rows = this->rows();
    ASSERT_EQ(rows.size(), 8U);
    EXPECT_EQ(rows[3].missing, 2);
    EXPECT_EQ(rows[3].b_scans, 6);
    const Bytes file = bytes_of(raw_);
    const Bytes truth = source_.file(9);
    ASSERT_EQ(file.size(), truth.size());
    const std::int64_t goes_on = rows[4].byte_offset;
    EXPECT_TRUE(std::equal(file.begin() + goes_on, file.end(), truth.begin() + goes_on));
    EXPECT_TRUE(std::equal(file.begin(), file.begin() + source_.volume_bytes(), truth.begin()));
}

TEST_F(RecorderTest, FullDiskLeavesReadableRecording) {
    Recorder recorder(wanted(), watched_raw([](std::int64_t place, std::span<const std::byte>) {
                          if (place > 50000) throw Error(ErrorCode::output, "no space", "scan.raw");
                      }));
    offer_slowly(recorder, 0, 12);
    recorder.finish();
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("no space"));
    expect_opens_with(toml_, source_, 5);
    EXPECT_EQ(open_scan(toml_).recording.missing_blocks, 7);
    EXPECT_EQ(rows().back().missing, 7);
}

TEST_F(RecorderTest, FullDiskAtStartLeavesNoFiles) {
    RecordingTools tools = watched_raw([](std::int64_t, std::span<const std::byte>) {});
    tools.open_index = [](const std::filesystem::path& path) -> std::unique_ptr<DurableFile> {
        throw Error(ErrorCode::output, "no space", path.string());
    };
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted(), tools); }).line, HasSubstr("scan.index.csv: no space"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
}

TEST_F(RecorderTest, LeavesNoFilesWithoutBlocks) {
    RecordingRequest with = wanted();
    with.scan.calibration.dark.assign(SmallSource::samples, 7);
    {
        Recorder recorder(with);
        EXPECT_TRUE(std::filesystem::exists(folder_ / "rec" / "scan.dark.f64"));
        EXPECT_TRUE(recorder.offer(source_.block(1))) << "within a volume: not of the recording";
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
    {
        Recorder recorder(with, watched_raw([](std::int64_t, std::span<const std::byte>) {
                              throw Error(ErrorCode::output, "no space", "scan.raw");
                          }));
        offer_slowly(recorder, 0, 4);
        recorder.finish();
        EXPECT_EQ(recorder.stats().missing_blocks, 4);
        EXPECT_THAT(line_of_problem(recorder), HasSubstr("no space"));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
}

// The clock stands still, so no sync is due: a block is released once written, before it is on the disk.
TEST_F(RecorderTest, ReleasesBlocksBeforeFirstSync) {
    Gate gate;
    std::atomic<int> writing = 0;
    RecordingTools tools = watched_raw([&](std::int64_t, std::span<const std::byte>) {
        ++writing;
        gate.pass();
    });
    tools.seconds = [] { return 0.0; };
    std::atomic<int> alive = 0;
    Recorder recorder(wanted(), tools);
    EXPECT_EQ(recorder.stats().blocks_held, 0);
    for (std::int64_t number = 0; number < 3; ++number) {
        ASSERT_TRUE(recorder.offer(source_.block(number, &alive)));
        EXPECT_EQ(recorder.stats().blocks_held, number + 1);
        ASSERT_TRUE(becomes_true([&] { return writing == 1; }));
    }
    EXPECT_EQ(alive, 3);
    gate.open();
    ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks == 3; }));
    EXPECT_EQ(recorder.stats().blocks_held, 0);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(recorder.stats().syncs, 1) << "that of the empty files";
}

}  // namespace
}  // namespace echolux
