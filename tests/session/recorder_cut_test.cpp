// Recordings that end without warning: cut at any page, killed, or left as on the disk after a power cut. They open up
// to the last whole block, and every byte that opens is right.
#include "compute/indexing.h"
#include "engine/live/recorder.h"
#include "engine/scan/recording.h"
#include "recording_disks.h"

namespace echolux {
namespace {

enum class Loss { all_unsynced, bytes_only, rows_only };

class RecorderCutTest : public testing::Test {
  protected:
    struct Step {
        bool of_raw = true;
        bool is_sync = false;
        std::int64_t place = 0;
        Bytes bytes;
        double time_s = 0;
    };

    RecorderCutTest() { std::filesystem::create_directory(folder_ / "rec"); }

    RecordingRequest wanted() const {
        RecordingRequest wanted;
        std::filesystem::create_directories(folder_ / "rec");
        wanted.scan_toml = folder_ / "rec" / "scan.toml";
        wanted.scan = source_.scan();
        wanted.max_blocks_held = 1000;
        return wanted;
    }

    // Records all blocks, then restores the TOML of an unfinished recording.
    void record_without_end(std::int64_t blocks, RecordingTools tools = RecordingTools::real()) {
        Recorder recorder(wanted(), std::move(tools));
        const Bytes unfinished = bytes_of(toml_);
        for (std::int64_t number = 0; number < blocks; ++number) ASSERT_TRUE(recorder.offer(source_.block(number)));
        recorder.finish();
        ASSERT_FALSE(recorder.problem());
        put(toml_, unfinished);
    }

    // Advances the clock by 0.1 s per block and logs every step.
    RecordingTools logging() {
        RecordingTools tools = RecordingTools::real();
        const auto logged = [this](auto open, bool of_raw) {
            return [this, open, of_raw](const std::filesystem::path& path) {
                const auto write = [this, of_raw](std::int64_t place, std::span<const std::byte> bytes) {
                    if (of_raw) clock_s_ += 0.1;
                    steps_.push_back({of_raw, false, place, {bytes.begin(), bytes.end()}, clock_s_});
                };
                const auto synced = [this, of_raw] { steps_.push_back({of_raw, true, 0, {}, clock_s_}); };
                return std::make_unique<WatchedFile>(open(path), write, synced);
            };
        };
        tools.open_raw = logged(tools.open_raw, true);
        tools.open_index = logged(tools.open_index, false);
        tools.seconds = [this] { return clock_s_; };
        return tools;
    }

    // Returns the content of a file after `steps`, with or without the bytes behind its last sync.
    Bytes on_disk(std::size_t steps, bool of_raw, bool keeps_unsynced) const {
        std::size_t end = steps;
        while (!keeps_unsynced && end > 0 && !(steps_[end - 1].of_raw == of_raw && steps_[end - 1].is_sync)) --end;
        Bytes bytes;
        for (std::size_t i = 0; i < end; ++i) {
            const Step& step = steps_[i];
            if (step.of_raw != of_raw || step.is_sync) continue;
            const std::size_t last = index(step.place) + step.bytes.size();
            if (bytes.size() < last) bytes.resize(last);
            std::ranges::copy(step.bytes, bytes.begin() + step.place);
        }
        return bytes;
    }

    std::int64_t rows_in(const Bytes& index) const { return std::ranges::count(index, std::byte{'\n'}) - 1; }

    std::int64_t blocks_in(std::int64_t bytes) const {
        std::int64_t blocks = 0;
        for (std::int64_t end = source_.block(0).bytes; end <= bytes; end += source_.block(blocks).bytes) ++blocks;
        return blocks;
    }

    TemporaryFolder folder_;
    SmallSource source_;
    std::filesystem::path toml_ = folder_ / "rec" / "scan.toml";
    std::filesystem::path raw_ = folder_ / "rec" / "scan.raw";
    std::filesystem::path index_ = folder_ / "rec" / "scan.index.csv";
    std::vector<Step> steps_;  // written by the recorder's thread until it ends
    double clock_s_ = 0;
};

TEST_F(RecorderCutTest, OpensWhereverFileWasCut) {
    record_without_end(24, logging());  // some rows are trusted, the last ones are checked
    const Bytes whole = source_.file(24);
    ASSERT_EQ(bytes_of(raw_), whole);
    for (std::int64_t size = std::ssize(whole) / 4096 * 4096; size >= 0; size -= 4096) {
        SCOPED_TRACE(size);
        std::filesystem::resize_file(raw_, static_cast<std::uintmax_t>(size));
        expect_opens_with(toml_, source_, blocks_in(size));
    }
}

TEST_F(RecorderCutTest, OpensWhereverIndexWasCut) {
    record_without_end(5);
    const Bytes index = bytes_of(index_);
    for (std::size_t size = index.size(); size > index_heading().size(); --size) {
        SCOPED_TRACE(size);
        std::filesystem::resize_file(index_, size);
        expect_opens_with(toml_, source_, rows_in(bytes_of(index_)));
    }
    std::filesystem::remove(index_);
    EXPECT_THAT(error_of([&] { open_scan(toml_); }).line, testing::HasSubstr("scan.index.csv: cannot be read"));
}

TEST(RecordingIndex, RejectsRowsBeyondAnyFile) {
    const auto row = [](const std::string& place) {
        return index_row("0,0,0,4," + place + ",0.5,2024-01-02T03:04:05Z,0,0,deadbeef,0");
    };
    EXPECT_TRUE(row("4096,512"));
    EXPECT_FALSE(row("9223372036854775807,512"));
    EXPECT_FALSE(row("-512,512"));
    EXPECT_FALSE(row("4096,-1"));
}

TEST_F(RecorderCutTest, OpensAfterPowerCutAtAnyMoment) {
    record_without_end(24, logging());
    ASSERT_GT(steps_.size(), 48U);
    for (std::size_t steps = 1; steps <= steps_.size(); ++steps) {
        for (const Loss loss : {Loss::all_unsynced, Loss::bytes_only, Loss::rows_only}) {
            SCOPED_TRACE("after " + std::to_string(steps) + " steps, loss " + std::to_string(static_cast<int>(loss)));
            Bytes raw = on_disk(steps, true, loss == Loss::rows_only);
            const Bytes index = on_disk(steps, false, loss == Loss::bytes_only);
            if (index.size() < index_heading().size()) continue;  // the TOML is written later
            const std::int64_t blocks = std::min(rows_in(index), blocks_in(std::ssize(raw)));
            raw.resize(on_disk(steps, true, true).size());  // the length of lost bytes may survive
            put(raw_, raw);
            put(index_, index);
            expect_opens_with(toml_, source_, blocks);
        }
    }
}

TEST_F(RecorderCutTest, FlushesEveryByteWithinOneSecond) {
    record_without_end(60, logging());
    std::optional<double> written_s;
    for (const Step& step : steps_) {
        if (!step.of_raw) continue;
        if (!step.is_sync && !written_s) written_s = step.time_s;
        if (!step.is_sync) continue;
        EXPECT_LE(step.time_s - written_s.value_or(step.time_s), 1.0);
        written_s.reset();
    }
    EXPECT_FALSE(written_s);
}

TEST_F(RecorderCutTest, FlushesLastBlockBeforePause) {
    std::atomic<int> syncs = 0;
    Recorder recorder(wanted(), watched_raw([](std::int64_t, std::span<const std::byte>) {}, [&] { ++syncs; }));
    ASSERT_TRUE(becomes_true([&] { return syncs == 1; }));
    recorder.offer(source_.block(0));
    EXPECT_TRUE(becomes_true([&] { return syncs >= 2; }));
}

TEST_F(RecorderCutTest, OpensAfterKill9) {
    const std::int64_t written = blocks_written_until_kill_9(wanted(), source_, 200);
    const std::int64_t blocks = rows_in(bytes_of(index_));
    EXPECT_GE(blocks, written) << "every block that was said to be written";
    expect_opens_with(toml_, source_, blocks);
    EXPECT_EQ(lack_of(open_scan(toml_).recording), "recording was not finished: 0 blocks missing");
}

// Rows of the index may survive a power cut without their bytes.
TEST_F(RecorderCutTest, CountsIndexedBlocksMissingInFile) {
    record_without_end(6);
    std::filesystem::resize_file(raw_, static_cast<std::uintmax_t>(source_.block(0).bytes * 2 + 10));
    EXPECT_EQ(lack_of(open_scan(toml_).recording), "recording was not finished: 4 blocks missing");
}

// `info` opens a recording while blocks are appended.
TEST_F(RecorderCutTest, OpensWhileItGrows) {
    record_without_end(6);
    const Scan scan = open_scan(toml_);
    std::filesystem::resize_file(raw_, std::filesystem::file_size(raw_) + 1000);
    EXPECT_NO_THROW(SpectraReader{scan});
}

TEST(RecordingNotes, DescribeMissingData) {
    RecordingNotes notes;
    EXPECT_EQ(lack_of(notes), "") << "no recording";
    notes.index = "scan.index.csv";
    notes.lost_blocks = 2;
    notes.lost_b_scans = 6;
    EXPECT_EQ(lack_of(notes), "recording was not finished: 2 blocks missing, 6 B-scans without data");
    notes.finished = true;
    notes.missing_blocks = 1;
    EXPECT_EQ(lack_of(notes), "recording is incomplete: 3 blocks missing, 6 B-scans without data");
    notes.complete = true;
    EXPECT_EQ(lack_of(notes), "");
}

}  // namespace
}  // namespace echolux
