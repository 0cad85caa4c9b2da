// Recording: blocks are in the file where the TOML says, and missing ones are counted, marked and reported.
#include "engine/live/recorder.h"

#include <cstdlib>

#include "compute/indexing.h"
#include "recorder_fixture.h"

namespace echolux {
namespace {

TEST_F(RecorderTest, WritesEveryByteAsDescribed) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 9);
    recorder.finish();
    EXPECT_EQ(line_of_problem(recorder), "");
    EXPECT_EQ(bytes_of(raw_), source_.file(9));
    EXPECT_EQ(recorder.stats().blocks, 9);
    EXPECT_EQ(recorder.stats().bytes, 3 * source_.volume_bytes());
    EXPECT_TRUE(open_scan(toml_).recording.complete);
    expect_opens_with(toml_, source_, 9);
}

TEST_F(RecorderTest, KeepsUnfinishedLastVolume) {
    for (const std::int64_t blocks : {8, 2}) {
        RecordingRequest again = wanted();
        again.replace = true;
        Recorder recorder(again);
        offer_slowly(recorder, 0, blocks);
        recorder.finish();
        EXPECT_EQ(bytes_of(raw_), source_.file(blocks));
        expect_opens_with(toml_, source_, blocks);
        EXPECT_TRUE(open_scan(toml_).recording.complete);
    }
}

// As cameras and plugins send them. Each number of blocks ends the file differently: 3 and 6 end behind the hole.
TEST_F(RecorderTest, WritesZerosForMissingFlybackFrames) {
    const std::int64_t flyback_bytes = source_.frame_bytes() * source_.flyback_frames;
    for (const std::int64_t blocks : {3, 4, 6}) {
        SCOPED_TRACE(blocks);
        RecordingRequest again = wanted();
        again.replace = true;
        again.max_blocks_held = blocks;
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
        ASSERT_EQ(rows.size(), index(blocks));
        EXPECT_EQ(rows[2].bytes, source_.block(2).bytes - flyback_bytes);
        EXPECT_EQ(rows[2].end() + flyback_bytes, source_.volume_bytes());
    }
}

// The flyback of the last block was not sent and nothing followed: the volume is still whole.
TEST_F(RecorderTest, KeepsHoleAtEndAfterPowerCut) {
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

TEST_F(RecorderTest, StoresTimesAndNumbersOfBlocks) {
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
    EXPECT_EQ(recorder.stats().lost_blocks, 1);
}

TEST_F(RecorderTest, StoresCalibrationAndRecipe) {
    RecordingRequest with = wanted();
    with.scan.calibration.background.assign(SmallSource::samples, 1.0 / 3);
    with.scan.calibration_files.background = "elsewhere/background.csv";
    with.scan.calibration.k_jitter.assign(2 * SmallSource::b_scans * 2, 1.0);
    with.scan.calibration_files.k_jitter = "elsewhere/jitter.csv";
    with.scan.recipe.window = Window::blackman;
    Recorder recorder(with);
    offer_slowly(recorder, 0, 3);
    recorder.finish();
    const Scan scan = open_scan(toml_);
    EXPECT_EQ(scan.calibration.background, with.scan.calibration.background);
    EXPECT_EQ(scan.calibration.k_jitter, with.scan.calibration.k_jitter);
    EXPECT_EQ(scan.recipe.window, Window::blackman);
}

TEST_F(RecorderTest, BeginsWithVolume) {
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

// Runs the code in docs/recordings.md, and checks the index against the raw file in a language that shares no code.
TEST_F(RecorderTest, NumPyReadsFilesAsDocumented) {
    const std::string python = std::filesystem::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
    for (const std::string kind : {"plain", "headers", "stripes"}) {
        if (kind == "plain") source_ = {0, 1, 0, 0};
        RecordingRequest again = wanted();
        again.scan_toml = toml_ = folder_ / kind / "scan.toml";
        std::filesystem::create_directories(toml_.parent_path());
        again.max_blocks_held = 100;
        again.stripe_bytes = 4096;
        if (kind == "stripes") again.stripe_folders = {folder_ / "rec", folder_ / "plain"};
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
