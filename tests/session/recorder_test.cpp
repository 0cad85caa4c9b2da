// Recording: what comes is in the file, where the TOML says; what is not is counted, marked and said.
#include "engine/stream/recorder.h"

#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "engine/stream/recording_index.h"
#include "recording_disks.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class RecorderTest : public testing::Test {
  protected:
    RecordingWanted wanted() const {
        RecordingWanted wanted;
        wanted.scan_toml = folder_ / "rec" / "scan.toml";
        wanted.scan = source_.scan();
        return wanted;
    }

    std::string line_of_problem(const Recorder& recorder) const {
        const std::optional<Error> problem = recorder.problem();
        return problem ? problem->line() : "";
    }

    std::vector<IndexRow> rows() const {
        std::vector<IndexRow> rows;
        read_index(folder_ / "rec" / "scan.index.csv", [&](const IndexRow& row) {
            rows.push_back(row);
            return true;
        });
        return rows;
    }

    // Offers blocks, each when the one before has been dealt with: a disk that is fast enough. Once it has failed, it
    // is not trusted again.
    void offer_slowly(Recorder& recorder, std::int64_t first, std::int64_t end) {
        for (std::int64_t number = first; number < end; ++number) {
            const bool has_failed = recorder.figures().failed_blocks > 0;
            ASSERT_EQ(recorder.offer(source_.block(number)), !has_failed);
            ASSERT_TRUE(comes_true([&] { return recorder.figures().blocks_held == 0; }));
        }
    }

    TemporaryFolder folder_;
    SmallSource source_;
    std::filesystem::path toml_ = folder_ / "rec" / "scan.toml";
    std::filesystem::path raw_ = folder_ / "rec" / "scan.raw";
};

TEST_F(RecorderTest, EveryByteIsWhereTheTomlSays) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 9);
    recorder.finish();
    EXPECT_EQ(line_of_problem(recorder), "");
    EXPECT_EQ(bytes_of(raw_), source_.file(9));
    EXPECT_EQ(recorder.figures().blocks, 9);
    EXPECT_EQ(recorder.figures().bytes, 3 * source_.volume_bytes());
    EXPECT_TRUE(open_scan(toml_).recording.complete);
    expect_opens_with(toml_, source_, 9);
}

TEST_F(RecorderTest, ALastVolumeThatEndsEarlyIsKeptAndSaid) {
    for (const std::int64_t blocks : {8, 2}) {
        RecordingWanted again = wanted();
        again.replace = true;
        Recorder recorder(again);
        offer_slowly(recorder, 0, blocks);
        recorder.finish();
        EXPECT_EQ(bytes_of(raw_), source_.file(blocks));
        expect_opens_with(toml_, source_, blocks);
        EXPECT_TRUE(open_scan(toml_).recording.complete);
    }
}

// As cameras and plugins send them. Each number of blocks ends the file elsewhere; 3, 6: behind the hole.
TEST_F(RecorderTest, FlybackFramesThatAreNotSentAreAHoleOfZeros) {
    const std::int64_t flyback_bytes = source_.frame_bytes() * source_.flyback_frames;
    for (const std::int64_t blocks : {3, 4, 6}) {
        SCOPED_TRACE(blocks);
        RecordingWanted again = wanted();
        again.replace = true;
        again.most_blocks_held = blocks;
        Bytes expected = source_.file(blocks);
        {
            Recorder recorder(again);
            for (std::int64_t number = 0; number < blocks; ++number) {
                Block block = source_.block(number);
                if (number % 3 == 2) {
                    block.bytes -= flyback_bytes;
                    const auto end = expected.begin() + (block.volume + 1) * source_.volume_bytes();
                    std::fill(end - flyback_bytes, end, std::byte{});
                }
                EXPECT_TRUE(recorder.offer(block));
            }
            recorder.finish();
            EXPECT_EQ(line_of_problem(recorder), "");
        }
        EXPECT_EQ(bytes_of(raw_), expected);
        EXPECT_EQ(open_scan(toml_).geometry.volumes, blocks / 3);
        expect_opens_with(toml_, source_, blocks);
        const std::vector<IndexRow> rows = this->rows();
        ASSERT_EQ(rows.size(), static_cast<std::size_t>(blocks));
        EXPECT_EQ(rows[2].bytes, source_.block(2).bytes - flyback_bytes);
        EXPECT_EQ(rows[2].end() + flyback_bytes, source_.volume_bytes());
    }
}

// The flyback of the last block was not sent, and nothing came after: its volume is whole all the same.
TEST_F(RecorderTest, AHoleAtTheEndSurvivesThatTheRecordingIsCutOff) {
    {
        Recorder recorder(wanted());
        const Bytes unfinished = bytes_of(toml_);
        for (std::int64_t number = 0; number < 6; ++number) {
            Block block = source_.block(number);
            if (number % 3 == 2) block.bytes -= source_.frame_bytes() * source_.flyback_frames;
            EXPECT_TRUE(recorder.offer(block));
        }
        recorder.finish();
        put(toml_, unfinished);
    }
    EXPECT_FALSE(open_scan(toml_).recording.complete);
    expect_opens_with(toml_, source_, 6);
}

TEST_F(RecorderTest, TimesAndNumbersOfBlocksAreKept) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 4);
    Block late = source_.block(5);
    late.lost_before = 1;
    ASSERT_TRUE(recorder.offer(late));
    recorder.finish();
    const std::vector<IndexRow> rows = this->rows();
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(rows[3].sequence, 3U);
    EXPECT_EQ(rows[3].volume, 1);
    EXPECT_EQ(rows[3].time_s, 0.85);
    EXPECT_EQ(rows[3].byte_offset, source_.volume_bytes());
    EXPECT_EQ(rows[3].lost_before, 0);
    EXPECT_EQ(rows[4].lost_before, 1);
    EXPECT_EQ(rows[4].first_b_scan, 6);
    EXPECT_EQ(bytes_of(raw_), source_.file(6, {4})) << "what the source lost is a hole, nothing shifts";
    EXPECT_EQ(open_scan(toml_).recording.lost_blocks, 1);
    EXPECT_EQ(recorder.figures().lost_blocks, 1);
}

TEST_F(RecorderTest, CalibrationAndRecipeComeAlong) {
    RecordingWanted with = wanted();
    with.scan.calibration.background.assign(SmallSource::samples, 1.0 / 3);
    with.scan.calibration_files.background = "elsewhere/background.csv";
    with.scan.recipe.window = Window::blackman;
    Recorder recorder(with);
    offer_slowly(recorder, 0, 3);
    recorder.finish();
    const Scan scan = open_scan(toml_);
    EXPECT_EQ(scan.calibration.background, with.scan.calibration.background);
    EXPECT_EQ(scan.recipe.window, Window::blackman);
}

TEST_F(RecorderTest, BeginsWithAVolume) {
    Recorder recorder(wanted());
    for (std::int64_t number = 4; number < 12; ++number) {
        EXPECT_TRUE(recorder.offer(source_.block(number)));
    }
    recorder.finish();
    const Bytes whole = source_.file(12);
    const Bytes expected(whole.begin() + 2 * source_.volume_bytes(), whole.end());
    EXPECT_EQ(bytes_of(raw_), expected);
    EXPECT_EQ(open_scan(toml_).geometry.volumes, 2);
    EXPECT_EQ(rows().front().lost_before, 0);
}

TEST_F(RecorderTest, NothingIsReplacedUnasked) {
    { Recorder(wanted()).offer(source_.block(0)); }
    const Bytes before = bytes_of(raw_);
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted()); }).line, HasSubstr("scan.toml: exists already"));
    std::filesystem::remove(toml_);
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted()); }).line, HasSubstr("scan.raw: exists already"));
    EXPECT_EQ(bytes_of(raw_), before);
}

TEST_F(RecorderTest, AScanIsNotRecordedOverItself) {
    { Recorder(wanted()).offer(source_.block(0)); }
    RecordingWanted itself = wanted();
    itself.scan = open_scan(toml_);
    itself.replace = true;
    EXPECT_THAT(error_of([&] { Recorder recorder(itself); }).line, HasSubstr("is being replayed"));
    EXPECT_EQ(bytes_of(raw_), source_.file(1));
}

TEST_F(RecorderTest, WhatCannotWorkIsSaidBeforeItBegins) {
    RecordingWanted huge = wanted();
    huge.expected_bytes = std::int64_t{1} << 58;
    EXPECT_THAT(error_of([&] { Recorder recorder(huge); }).line, HasSubstr("GB are free"));
    RecordingWanted starved = wanted();
    starved.most_blocks_held = 0;
    EXPECT_THAT(error_of([&] { Recorder recorder(starved); }).line, HasSubstr("able to hold a block"));
    EXPECT_FALSE(std::filesystem::exists(raw_));
}

TEST_F(RecorderTest, WhatDoesNotFitIsRefusedAndLeavesTheRestAlone) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 4);
    std::vector<Block> misfits(6, source_.block(4));
    misfits[0] = source_.block(3);
    misfits[1].bytes -= 2;
    misfits[2].frames.offset_bytes = 0;
    misfits[3].memory = MemoryKind::device;
    misfits[4].b_scans = 5;
    misfits[5].volume = -1;
    const std::array says{"comes again",
                          "has 12862 bytes, 12864 are expected",
                          "headers of 0 bytes",
                          "lies in a GPU's memory",
                          "has 5 B-scans from 3 on: a volume has 7",
                          "has 3 B-scans"};
    for (std::size_t i = 0; i < misfits.size(); ++i) {
        EXPECT_FALSE(recorder.offer(misfits[i]));
        EXPECT_THAT(line_of_problem(recorder), HasSubstr(says[i]));
    }
    offer_slowly(recorder, 4, 6);
    recorder.finish();
    EXPECT_EQ(recorder.figures().refused_blocks, 6);
    EXPECT_EQ(recorder.figures().missing_blocks, 0);
    EXPECT_EQ(bytes_of(raw_), source_.file(6));
}

TEST_F(RecorderTest, ASlowDiskCostsBlocksOfTheRecordingAloneAndIsSaidAtOnce) {
    Gate gate;
    std::atomic<int> writing = 0;
    RecordingWanted share = wanted();
    share.most_blocks_held = 2;
    Recorder recorder(share, watched_raw([&](std::int64_t place, std::span<const std::byte>) {
                          if (place == 0) return;
                          ++writing;
                          gate.pass();
                      }));
    std::atomic<int> alive = 0;
    EXPECT_TRUE(recorder.offer(source_.block(0, &alive)));
    ASSERT_TRUE(comes_true([&] { return recorder.figures().blocks_held == 0; }));
    EXPECT_TRUE(recorder.offer(source_.block(1, &alive)));
    ASSERT_TRUE(comes_true([&] { return writing == 1; }));
    EXPECT_TRUE(recorder.offer(source_.block(2, &alive)));
    for (std::int64_t number = 3; number < 11; ++number) {
        EXPECT_FALSE(recorder.offer(source_.block(number, &alive)));
        EXPECT_EQ(alive, 2) << "the recorder holds its share and no more";
    }
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("the disk is too slow: 8 blocks are missing"));
    EXPECT_EQ(recorder.figures().missing_blocks, 8);
    EXPECT_EQ(recorder.figures().most_blocks_held, 2);
    gate.open();
    ASSERT_TRUE(comes_true([&] { return recorder.figures().blocks_held == 0; }));
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

// The soft limit on the size of files, which the kernel tells like a full disk.
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

TEST_F(RecorderTest, AFullDiskIsSaidAtOnceAndRecordingGoesOnWhenThereIsRoomAgain) {
    Recorder recorder(wanted());
    {
        const FileSizeLimit limit(40960);  // three blocks, and part of the fourth
        offer_slowly(recorder, 0, 3);
        EXPECT_EQ(line_of_problem(recorder), "");
        offer_slowly(recorder, 3, 5);
        EXPECT_THAT(line_of_problem(recorder), HasSubstr("scan.raw: cannot be written: File too large (free space"));
        EXPECT_EQ(recorder.figures().missing_blocks, 2);
    }
    offer_slowly(recorder, 5, 9);
    recorder.finish();
    EXPECT_EQ(recorder.figures().blocks, 7);
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

TEST_F(RecorderTest, ADiskThatStaysFullLeavesARecordingThatOpens) {
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

TEST_F(RecorderTest, ADiskThatIsFullAtTheBeginningIsLeftAsItWas) {
    RecordingTools tools = watched_raw([](std::int64_t, std::span<const std::byte>) {});
    tools.open_index = [](const std::filesystem::path& path, bool) -> std::unique_ptr<DurableFile> {
        throw Error(ErrorCode::output, "no space", path.string());
    };
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted(), tools); }).line, HasSubstr("scan.index.csv: no space"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
}

TEST_F(RecorderTest, WithoutABlockThereIsNothingToOpen) {
    { Recorder recorder(wanted()); }
    expect_opens_with(toml_, source_, 0);
}

// Runs what docs/recordings.md shows, and checks the index against the raw file, in a language that shares no code.
TEST_F(RecorderTest, NumPyReadsWhatTheDocsSay) {
    const std::string python = std::filesystem::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
    for (const bool is_plain : {true, false}) {
        if (is_plain) source_ = {0, 1, 0, 0};
        RecordingWanted again = wanted();
        again.scan_toml = toml_ = folder_ / (is_plain ? "plain" : "rec") / "scan.toml";
        again.most_blocks_held = 100;
        Recorder recorder(again);
        for (const std::int64_t number : {0, 1, 2, 3, 4, 5, 8, 9, 10}) {
            Block block = source_.block(number);
            block.lost_before = number == 8 ? 2 : 0;
            ASSERT_TRUE(recorder.offer(block));
        }
        recorder.finish();
        const std::string command =
            python + " '" ECHOLUX_TEST_DIR "/recorder_files.py' '" ECHOLUX_SOURCE_DIR "/docs/recordings.md' '" +
            toml_.string() + "'";
        constexpr int no_numpy = 3 << 8;
        const int status = std::system(command.c_str());
        if (status == no_numpy) GTEST_SKIP() << "python3-numpy is not installed";
        EXPECT_EQ(status, 0) << command;
        source_ = {};
    }
}

}  // namespace
}  // namespace echolux
