// Disks that are too slow are reported before a recording begins, and are left unchanged.
#include "engine/live/recording_files.h"

#include "engine/live/recording_writer.h"
#include "recorder_fixture.h"

namespace echolux {
namespace {

using testing::HasSubstr;

// Uses a clock that advances only while a disk works.
class DiskRateTest : public RecorderTest {
  protected:
    DiskRateTest() { std::filesystem::create_directory(folder_ / "b"); }

    using Seconds = std::function<double(double bytes)>;

    // `written` is the time of each write, `flushed` that of flushing the bytes since the last flush.
    RecordingTools disk(const Seconds& written, const Seconds& flushed) {
        const auto on_write = [=, this](std::int64_t, std::span<const std::byte> bytes) {
            EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec")) << "a killed trial would leave a file";
            unflushed_ = unflushed_ + static_cast<double>(bytes.size());
            written_ = written_ + static_cast<double>(bytes.size());
            clock_s_ = clock_s_ + written(static_cast<double>(bytes.size()));
        };
        RecordingTools tools =
            watched_raw(on_write, [=, this] { clock_s_ = clock_s_ + flushed(unflushed_.exchange(0)); });
        tools.seconds = [this] { return clock_s_.load(); };
        return tools;
    }
    static Seconds at(double bytes_per_s) {
        return [=](double bytes) { return bytes / bytes_per_s; };
    }
    static double in_no_time(double) { return 0; }

    // Writes 4 MiB per second.
    RecordingTools slow() { return disk(at(4 << 20), in_no_time); }

    std::optional<double> tried(const RecordingTools& tools, std::int64_t max_bytes = 1 << 30) const {
        return measured_disk_rate({raw_}, usual_stripe_bytes, max_bytes, tools);
    }

    // 250 MB/s for 0.4 s: a million lines of 192 bytes per second, with a header of 32 bytes per eleven lines.
    RecordingRequest fast() const {
        RecordingRequest with = wanted();
        with.line_rate_hz = 1e6 * 250 / (192 + 32.0 / 11);
        with.expected_bytes = 100'000'000;
        return with;
    }

    std::atomic<double> clock_s_ = 0, unflushed_ = 0, written_ = 0;
};

TEST_F(DiskRateTest, RejectsSlowDisksWithBothRates) {
    EXPECT_NEAR(bytes_per_s(fast().scan, fast().line_rate_hz), 250e6, 1);
    const std::string line = error_of([&] { Recorder recorder(fast(), slow()); }).line;
    EXPECT_THAT(line, HasSubstr("spectra arrive at 0.25 GB/s, the disk sustains 0.00419 GB/s"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
}

// A trigger may pause the recording, so it is not refused.
TEST_F(DiskRateTest, WarnsOfInsufficientDiskForUnlimitedRecording) {
    RecordingRequest endless = fast();
    endless.expected_bytes = 0;
    const Recorder recorder(endless, slow());
    EXPECT_THAT(recorder.notice(), HasSubstr("the disk sustains 0.00419 GB/s: blocks will be lost"));
}

TEST_F(DiskRateTest, AcceptsShortRecordingThatFitsHeldBlocks) {
    RecordingRequest wanted = fast();
    wanted.expected_bytes = 10'000'000;
    wanted.held_bytes = 9'800'000;
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted, slow()); }).line, HasSubstr("spectra arrive at"));
    wanted.held_bytes = 9'900'000;
    Recorder recorder(wanted, slow());
    EXPECT_THAT(recorder.notice(), HasSubstr("the disk sustains 0.00419 GB/s"));
}

TEST_F(DiskRateTest, SlowSourceSkipsMeasurement) {
    RecordingRequest wanted = fast();
    wanted.line_rate_hz = 1e5;
    Recorder recorder(wanted, slow());
    EXPECT_EQ(recorder.notice(), "");
    EXPECT_EQ(clock_s_, 0);
}

TEST_F(DiskRateTest, IncludesTimeOfFlush) {
    EXPECT_NEAR(tried(disk(at(1e12), at(200e6))).value(), 200e6, 1e6);
    EXPECT_NEAR(tried(disk(at(200e6), in_no_time)).value(), 200e6, 1e6);
}

TEST_F(DiskRateTest, MeasuresInUnderHalfSecond) {
    for (const double bytes_per_s : {40e6, 100e6, 400e6}) {
        clock_s_ = 0;
        EXPECT_NEAR(tried(disk(at(bytes_per_s), in_no_time)).value(), bytes_per_s, 0.01 * bytes_per_s);
        EXPECT_GE(clock_s_, 0.2);
        EXPECT_LE(clock_s_, 0.5);
    }
}

TEST_F(DiskRateTest, KeepsRoomForRecording) {
    EXPECT_FALSE(tried(disk(in_no_time, in_no_time), 31 << 20));
    EXPECT_EQ(written_, 0);
    EXPECT_TRUE(tried(disk(in_no_time, in_no_time), 100 << 20));
    EXPECT_GT(written_, 50 << 20);
    EXPECT_LE(written_, 100 << 20);
    Scan recorded = source_.scan();
    recorded.spectra = raw_;
    const std::vector<DiskRoom> full{{raw_, 100'000'000, 150'000'000}}, roomy{{raw_, 100'000'000, 500'000'000}};
    EXPECT_EQ(check_disk_rate(fast(), recorded, full, slow()), "");
    EXPECT_THAT(error_of([&] { check_disk_rate(fast(), recorded, roomy, slow()); }).line, HasSubstr("GB/s"));
}

TEST_F(DiskRateTest, MeasuresStripesTogetherAndRemovesTestFiles) {
    const std::vector<std::filesystem::path> parts{raw_, folder_ / "b" / "scan.stripe-2.raw"};
    EXPECT_GT(measured_disk_rate(parts, usual_stripe_bytes, 1 << 28, RecordingTools::real()).value(), 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "b"));
    RecordingRequest striped = fast();
    striped.stripe_folders = {folder_ / "b"};
    EXPECT_THAT(error_of([&] { Recorder recorder(striped, slow()); }).line, HasSubstr("the disks together sustain"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "b"));
}

}  // namespace
}  // namespace echolux
