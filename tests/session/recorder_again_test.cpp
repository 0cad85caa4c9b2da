// Continuing a recording in new files: when, with what content, and what is reported. Disks fail on selected files and
// flushes, and the tests control the clock.
#include "recorder_fixture.h"

namespace echolux {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

// A real file that records preallocation requests without executing them.
class RoomNotingFile final : public DurableFile {
  public:
    RoomNotingFile(std::unique_ptr<DurableFile> file, std::vector<std::int64_t>& ends)
        : file_(std::move(file)), ends_(ends) {}

    void write(std::int64_t place, std::span<const std::byte> bytes) override { file_->write(place, bytes); }
    bool reserve(std::int64_t end) override {
        ends_.push_back(end);
        return true;
    }
    void sync() override { file_->sync(); }
    void end_at(std::int64_t size) override { file_->end_at(size); }

  private:
    std::unique_ptr<DurableFile> file_;
    std::vector<std::int64_t>& ends_;
};

class RecorderAgainTest : public RecorderTest {
  protected:
    // The clock advances by a second per write of spectra, so that each block is flushed. Files and the flushes of each
    // file are counted from 0; flush 0 is that of the empty file.
    RecordingTools tools(std::function<bool(int file, int flush)> fails) {
        RecordingTools tools = RecordingTools::real();
        tools.open_raw = [this, fails = std::move(fails),
                          open = tools.open_raw](const std::filesystem::path& path) -> std::unique_ptr<DurableFile> {
            const auto write = [this](std::int64_t, std::span<const std::byte>) {
                clock_s_ = clock_s_ + 1;
                if (const std::scoped_lock lock(mutex_); !trouble_.empty()) throw Error(ErrorCode::output, trouble_);
            };
            const auto flush = [fails, file = opened_++, flushes = std::make_shared<int>(0)] {
                if (fails(file, (*flushes)++)) throw Error(ErrorCode::output, "cannot be flushed");
            };
            return std::make_unique<WatchedFile>(open(path), write, flush);
        };
        tools.seconds = [this] { return clock_s_.load(); };
        return tools;
    }
    // Makes all later writes of spectra fail.
    void set_trouble(const std::string& trouble) {
        const std::scoped_lock lock(mutex_);
        trouble_ = trouble;
    }
    void offer(Recorder& recorder, std::int64_t first, std::int64_t end) {
        for (std::int64_t number = first; number < end; ++number) {
            recorder.offer(source_.block(number));
            ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks_held == 0; }));
        }
    }

    std::atomic<double> clock_s_ = 0;
    std::atomic<int> opened_ = 0;
    std::mutex mutex_;
    std::string trouble_;
};

// New files are tried at once if at least one block is on the disk.
TEST_F(RecorderAgainTest, BeginsNewFilesAfterOneFlushedBlock) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file == 0 && flush >= 2; }));
    offer(recorder, 0, 4);
    recorder.finish();
    EXPECT_EQ(recorder.stats().files, 2);
    EXPECT_EQ(recorder.stats().doubtful_blocks, 1);
}

TEST_F(RecorderAgainTest, BeginsFurtherFilesAfterNewFilesWorked) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file < 2 && flush >= 2; }));
    offer(recorder, 0, 7);
    EXPECT_LT(clock_s_, 10);
    recorder.finish();
    EXPECT_EQ(recorder.stats().files, 3);
    EXPECT_EQ(recorder.stats().doubtful_blocks, 2);
    EXPECT_EQ(open_scan(folder_ / "rec" / "scan-3.toml").recording.continues, "scan.toml");
}

// Files that can be created but not filled are retried every ten seconds: strictly more than ten must pass.
TEST_F(RecorderAgainTest, LimitsNewFilesIfOnlyEmptyFilesFlush) {
    clock_s_ = 100;
    Recorder recorder(wanted(), tools([](int, int flush) { return flush > 0; }));
    offer(recorder, 0, 1);
    EXPECT_EQ(opened_, 1);
    offer(recorder, 1, 2);
    EXPECT_EQ(opened_, 2);
    const double tried_s = clock_s_ - 1;  // before the write
    offer(recorder, 2, 12);
    EXPECT_EQ(clock_s_, tried_s + 11) << "block 11 came ten seconds after";
    EXPECT_EQ(opened_, 2);
    offer(recorder, 12, 13);
    EXPECT_EQ(opened_, 3);
}

// Continuation files have any length, regardless of the expected length of the whole recording.
TEST_F(RecorderAgainTest, RequestsRoomForWholeRecordingOnce) {
    constexpr std::int64_t mib = 1 << 20;
    std::vector<std::int64_t> ends, index_ends;
    std::vector<std::size_t> first_of_file;
    RecordingTools noting = tools([](int file, int flush) { return file == 0 && flush == 2; });
    noting.open_raw = [&, open = noting.open_raw](const std::filesystem::path& path) {
        first_of_file.push_back(ends.size());
        return std::make_unique<RoomNotingFile>(open(path), ends);
    };
    noting.open_index = [&, open = noting.open_index](const std::filesystem::path& path) {
        return std::make_unique<RoomNotingFile>(open(path), index_ends);
    };
    RecordingRequest long_one = wanted();
    long_one.expected_bytes = 300 * mib;
    Recorder recorder(long_one, noting);
    offer(recorder, 0, 3);
    recorder.finish();
    ASSERT_EQ(first_of_file.size(), 2U);
    EXPECT_EQ(ends[first_of_file[0]], 300 * mib);
    ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(first_of_file[0]));
    EXPECT_THAT(ends, Each(256 * mib));
    EXPECT_THAT(index_ends, Each(2 * mib));
}

TEST_F(RecorderAgainTest, ReportsLongestTimesOfAllFiles) {
    std::atomic<double> write_s = 1;
    RecordingTools slow = tools([](int file, int flush) { return file == 0 && flush == 3; });
    slow.open_raw = [&, open = slow.open_raw](const std::filesystem::path& path) {
        const auto takes_time = [&](std::int64_t, std::span<const std::byte>) { clock_s_ = clock_s_ + write_s - 1; };
        return std::make_unique<WatchedFile>(open(path), takes_time, [] {});
    };
    Recorder recorder(wanted(), slow);
    offer(recorder, 0, 1);
    EXPECT_EQ(recorder.stats().longest_write_s, 1);
    write_s = 4;
    offer(recorder, 1, 2);
    write_s = 2;
    offer(recorder, 2, 5);
    recorder.finish();
    EXPECT_EQ(recorder.stats().files, 2);
    EXPECT_EQ(recorder.stats().longest_write_s, 4);
    EXPECT_EQ(recorder.stats().longest_unsynced_s, 4) << "the block came to the disk as soon as it was written";
    EXPECT_EQ(recorder.stats().blocks, 5);
    EXPECT_EQ(recorder.stats().durable_blocks, 4);
}

// The clock stands still, so that no wait times out.
class UntimedThreads final : public Threads {
  public:
    Clock::time_point now() override { return {}; }
    LiveThread start(Work work) override { return real_threads().start(std::move(work)); }
    bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& told, const std::stop_token& stop,
              Clock::time_point, const std::function<bool()>& is_so) override {
        return real_threads().wait(lock, told, stop, Clock::time_point::max(), is_so);
    }
};

TEST_F(RecorderAgainTest, BlocksAndEndWakeWriter) {
    UntimedThreads threads;
    RecordingTools tools = RecordingTools::real();
    tools.threads = &threads;
    Recorder recorder(wanted(), tools);
    offer(recorder, 0, 2);
    recorder.finish();
    EXPECT_EQ(recorder.stats().durable_blocks, 2);
}

// The missing block is known, and safe against a power cut, without waiting for the next block.
TEST_F(RecorderAgainTest, WritesMissingBlockToIndexAtOnce) {
    Recorder recorder(wanted(), tools([](int, int) { return false; }));
    offer(recorder, 0, 1);
    set_trouble("no space");
    offer(recorder, 1, 2);
    ASSERT_TRUE(becomes_true([&] { return rows().size() == 2; }));
    EXPECT_EQ(rows().back().missing, 1);
}

// A full disk after that is not reported again: its blocks are counted.
TEST_F(RecorderAgainTest, KeepsReportingFailedFlush) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file == 0 && flush == 2; }));
    offer(recorder, 0, 3);
    set_trouble("no space");
    offer(recorder, 3, 4);
    EXPECT_EQ(recorder.stats().missing_blocks, 1);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("cannot be flushed"));
}

TEST_F(RecorderAgainTest, ReportsNewestWriteProblem) {
    Recorder recorder(wanted(), tools([](int, int) { return false; }));
    set_trouble("no space");
    offer(recorder, 0, 1);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("no space"));
    set_trouble("broken");
    offer(recorder, 1, 2);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("broken"));
}

// No block could be written and no flush succeeded. The earlier recording is restored, so it is not reported as kept
// elsewhere.
TEST_F(RecorderAgainTest, DoesNotReportRestoredRecordingAsKept) {
    { Recorder(wanted()).offer(source_.block(0)); }
    const Bytes earlier = bytes_of(raw_);
    RecordingRequest again = wanted();
    again.replace = true;
    Recorder recorder(again, tools([](int, int flush) { return flush > 0; }));
    set_trouble("no space");
    offer(recorder, 0, 1);
    ASSERT_TRUE(becomes_true([&] { return line_of_problem(recorder).find("is kept in") != std::string::npos; }));
    recorder.finish();
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("cannot be flushed"));
    EXPECT_THAT(line_of_problem(recorder), Not(HasSubstr("is kept in")));
    EXPECT_EQ(bytes_of(raw_), earlier);
}

}  // namespace
}  // namespace echolux
