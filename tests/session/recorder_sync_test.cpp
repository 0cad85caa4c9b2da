// Disks that fail to flush, and unexpected exceptions: only blocks that were known to be durable are trusted
// afterwards, and later blocks go to new files.
#include <new>

#include "recorder_fixture.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class RecorderSyncTest : public RecorderTest {
  protected:
    // The clock advances by a second per write of spectra, so that each block is flushed. Flushes are counted from 0,
    // which is that of the empty file.
    RecordingTools failing_to_flush(std::function<bool(int)> fails) {
        RecordingTools tools = watched_raw(
            [this](std::int64_t, std::span<const std::byte>) {
                clock_s_ = clock_s_ + 1;
                if (failing_writes_) throw Error(ErrorCode::output, "no space", "scan.raw");
            },
            [this, fails = std::move(fails)] {
                if (fails(flushes_++)) throw Error(ErrorCode::output, "cannot be flushed", "scan.raw");
            });
        tools.seconds = [this] { return clock_s_.load(); };
        return tools;
    }

    void offer(Recorder& recorder, std::int64_t first, std::int64_t end) {
        for (std::int64_t number = first; number < end; ++number) {
            recorder.offer(source_.block(number));
            ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks_held == 0; }));
        }
    }

    RecordingNotes notes_of(const std::string& name) const { return open_scan(folder_ / "rec" / name).recording; }

    std::atomic<double> clock_s_ = 0;
    std::atomic<int> flushes_ = 0;
    std::atomic<bool> failing_writes_ = false;
};

TEST_F(RecorderSyncTest, ContinuesInNewFilesAfterFailedFlush) {
    Recorder recorder(wanted(), failing_to_flush([](int flush) { return flush == 5; }));
    offer(recorder, 0, 9);
    recorder.finish();
    EXPECT_THAT(line_of_problem(recorder),
                HasSubstr("cannot be flushed (its last blocks may be damaged; the recording continues in "));
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("scan-2.raw"));
    const RecorderStats stats = recorder.stats();
    EXPECT_EQ(stats.blocks, 9);
    EXPECT_EQ(stats.files, 2);
    EXPECT_EQ(stats.doubtful_blocks, 1);
    EXPECT_EQ(stats.durable_blocks, 8);
    EXPECT_EQ(stats.missing_blocks, 0);

    EXPECT_EQ(bytes_of(raw_), source_.file(5));
    expect_opens_with(toml_, source_, 5);
    EXPECT_FALSE(notes_of("scan.toml").complete);
    EXPECT_FALSE(notes_of("scan.toml").finished);
    EXPECT_EQ(notes_of("scan.toml").doubtful_blocks, 1);
    EXPECT_EQ(rows().back().durable_bytes, rows().back().byte_offset) << "the last block is not said to be there";

    const Bytes whole = source_.file(9, {3, 4});
    EXPECT_EQ(bytes_of(folder_ / "rec" / "scan-2.raw"), Bytes(whole.begin() + source_.volume_bytes(), whole.end()));
    const RecordingNotes second = notes_of("scan-2.toml");
    EXPECT_EQ(second.continues, "scan.toml");
    EXPECT_EQ(second.lost_b_scans, 6);
    EXPECT_TRUE(second.finished);
    EXPECT_FALSE(second.complete);
}

// The disk lost the block that it could not flush.
TEST_F(RecorderSyncTest, SkipsDoubtfulBlockMissingOnDisk) {
    {
        Recorder recorder(wanted(), failing_to_flush([](int flush) { return flush == 5; }));
        offer(recorder, 0, 9);
    }
    Bytes raw = bytes_of(raw_);
    std::fill(raw.begin() + source_.volume_bytes() + source_.block(3).bytes, raw.end(), std::byte{});
    put(raw_, raw);
    expect_opens_with(toml_, source_, 4);
}

TEST_F(RecorderSyncTest, DiskThatNeverFlushesGetsNoNewFiles) {
    Recorder recorder(wanted(), failing_to_flush([](int flush) { return flush > 0; }));
    offer(recorder, 0, 9);
    recorder.finish();
    EXPECT_EQ(recorder.stats().files, 1);
    EXPECT_EQ(recorder.stats().doubtful_blocks, 9);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("cannot be flushed"));
    EXPECT_FALSE(notes_of("scan.toml").complete);
    EXPECT_EQ(notes_of("scan.toml").doubtful_blocks, 9);
    expect_opens_with(toml_, source_, 9);
}

// The disk worked before, so new files are tried at once, and then every ten seconds.
TEST_F(RecorderSyncTest, LimitsNewFilesAfterFlushesStopWorking) {
    RecordingTools tools = failing_to_flush([](int flush) { return flush >= 5; });
    int opened = 0;
    tools.open_raw = [&, open = tools.open_raw](const std::filesystem::path& path) {
        ++opened;
        return open(path);
    };
    Recorder recorder(wanted(), tools);
    offer(recorder, 0, 20);
    EXPECT_GT(clock_s_, 18);
    recorder.finish();
    EXPECT_EQ(opened, 3) << "the first, when a flush failed, and ten seconds later";
    EXPECT_EQ(recorder.stats().files, 1);
    EXPECT_EQ(recorder.stats().blocks, 20);
    EXPECT_EQ(recorder.stats().doubtful_blocks, 16);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("its last blocks may be damaged; check the disk)"));
}

// No block followed, so the final report must describe the existing files.
TEST_F(RecorderSyncTest, DoesNotNameEmptyNewFiles) {
    Recorder recorder(wanted(), failing_to_flush([](int flush) { return flush == 5; }));
    offer(recorder, 0, 5);
    failing_writes_ = true;
    offer(recorder, 5, 6);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("the recording continues in "));
    recorder.finish();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "rec" / "scan-2.raw"));
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("its last blocks may be damaged; check the disk)"));
    EXPECT_EQ(recorder.stats().files, 1);
    EXPECT_EQ(recorder.stats().missing_blocks, 1);
}

// No block of the new recording is flushed to the disk.
TEST_F(RecorderSyncTest, KeepsAndNamesRecordingToReplace) {
    { Recorder(wanted()).offer(source_.block(0)); }
    const std::filesystem::path before = folder_ / "rec" / "scan.before";
    const Bytes earlier = bytes_of(raw_);
    RecordingRequest again = wanted();
    again.replace = true;
    Recorder recorder(again, failing_to_flush([](int flush) { return flush > 0; }));
    offer(recorder, 0, 3);
    const std::string kept = "; the recording that was to be replaced is kept in " + before.string();
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("check the disk" + kept));
    recorder.finish();
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("check the disk" + kept));
    EXPECT_EQ(bytes_of(before / "scan.raw"), earlier);
}

// Blocks before the failed ones are flushed, even if the index has no space to record the failure.
TEST_F(RecorderSyncTest, FlushesWrittenBlocksDespiteFullIndex) {
    RecordingTools tools = watched_raw([this](std::int64_t, std::span<const std::byte>) {
        if (failing_writes_) throw Error(ErrorCode::output, "no space", "scan.raw");
    });
    tools.seconds = [this] { return clock_s_.load(); };
    tools.open_index = [this, open = tools.open_index](const std::filesystem::path& path) {
        const auto full = [this](std::int64_t, std::span<const std::byte>) {
            if (failing_writes_) throw Error(ErrorCode::output, "no space", "scan.index.csv");
        };
        return std::make_unique<WatchedFile>(open(path), full, [] {});
    };
    Recorder recorder(wanted(), tools);
    offer(recorder, 0, 2);
    EXPECT_EQ(recorder.stats().durable_blocks, 0);
    failing_writes_ = true;
    clock_s_ = 1;
    offer(recorder, 2, 3);
    EXPECT_TRUE(becomes_true([&] { return recorder.stats().durable_blocks == 2; }));
    EXPECT_EQ(recorder.stats().missing_blocks, 1);
    failing_writes_ = false;
    recorder.finish();
    EXPECT_EQ(rows().back().missing, 1);
}

TEST_F(RecorderSyncTest, FailedLastFlushIsIncomplete) {
    Recorder recorder(wanted(), failing_to_flush([](int flush) { return flush == 4; }));
    offer(recorder, 0, 3);
    recorder.finish();
    EXPECT_EQ(recorder.stats().files, 1);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("its last blocks may be damaged; check the disk"));
    EXPECT_FALSE(notes_of("scan.toml").complete);
    expect_opens_with(toml_, source_, 3);
}

// A later flush that succeeds is not trusted.
TEST_F(RecorderSyncTest, LaterSuccessDoesNotClearFailedFlush) {
    Recorder recorder(wanted(), failing_to_flush([](int flush) { return flush == 3; }));
    offer(recorder, 0, 3);
    recorder.finish();
    EXPECT_GT(flushes_, 4) << "else this tests nothing";
    EXPECT_FALSE(notes_of("scan.toml").complete);
}

// Whichever exception is thrown, the block is counted and the next one is tried.
TEST_F(RecorderSyncTest, CountsBlocksLostToAnyException) {
    const std::vector<std::function<void()>> throwers{[] { throw std::bad_alloc(); },
                                                      [] { throw std::runtime_error("strange"); },
                                                      [] { throw Error(ErrorCode::output, "usual"); }};
    for (const auto& thrower : throwers) {
        RecordingRequest again = wanted();
        again.replace = true;
        int blocks = 0;
        Recorder recorder(again, watched_raw([&](std::int64_t, std::span<const std::byte>) {
                              if (++blocks == 2) thrower();
                          }));
        offer(recorder, 0, 3);
        recorder.finish();
        EXPECT_NE(line_of_problem(recorder), "");
        EXPECT_EQ(recorder.stats().blocks, 2);
        EXPECT_EQ(recorder.stats().missing_blocks, 1);
        EXPECT_EQ(notes_of("scan.toml").missing_blocks, 1);
        EXPECT_FALSE(notes_of("scan.toml").complete);
        EXPECT_EQ(rows()[1].missing, 1);
        EXPECT_EQ(bytes_of(raw_), source_.file(3, {1}));
    }
}

}  // namespace
}  // namespace echolux
