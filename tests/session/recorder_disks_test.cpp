// Full, slow and failing disks: everything is reported, counted and marked, only blocks that were known to be durable
// are trusted afterwards, and later blocks go to new files.
#include <gmock/gmock.h>

#include <sys/resource.h>
#include <array>
#include <csignal>
#include <new>

#include "recorder_fixture.h"

namespace echolux {
namespace {

using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

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

// The writing thread gets no time, as on a computer that is too busy: the disk is not to blame.
class LateThreads : public Threads {
  public:
    explicit LateThreads(Gate& gate) : gate_(gate) {}
    Clock::time_point now() override { return real_threads().now(); }
    LiveThread start(Work work) override {
        return real_threads().start([this, work = std::move(work)](const std::stop_token& stop) {
            gate_.pass();
            work(stop);
        });
    }
    bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, const std::stop_token& stop,
              Clock::time_point time, const std::function<bool()>& is_so) override {
        return real_threads().wait(lock, changed, stop, time, is_so);
    }

  private:
    Gate& gate_;
};

TEST_F(RecorderTest, BlamesDiskOnlyWithEvidence) {
    Gate gate;
    LateThreads threads(gate);
    RecordingRequest share = wanted();
    share.max_blocks_held = 2;
    RecordingTools tools = RecordingTools::real();
    tools.threads = &threads;
    Recorder recorder(share, std::move(tools));
    for (std::int64_t number = 0; number < 2; ++number) EXPECT_TRUE(recorder.offer(source_.block(number)));
    for (std::int64_t number = 2; number < 6; ++number) EXPECT_FALSE(recorder.offer(source_.block(number)));
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("4 blocks missing: the computer was too busy"));
    gate.open();
    recorder.finish();
    EXPECT_EQ(recorder.stats().missing_blocks, 4);
}

TEST_F(RecorderTest, RecordsWantedNumberOfVolumes) {
    RecordingRequest two = wanted();
    two.volumes = 2;
    two.subject = "E 7";
    two.note = "left eye";
    constexpr std::int64_t blocks = SmallSource::blocks_a_volume;
    Recorder recorder(two);
    offer_slowly(recorder, blocks, 3 * blocks);
    EXPECT_FALSE(recorder.stats().has_all_volumes);
    offer_slowly(recorder, 3 * blocks, 3 * blocks + 2);
    recorder.note_lost(5);
    EXPECT_TRUE(recorder.stats().has_all_volumes);
    recorder.finish();
    EXPECT_EQ(recorder.stats().blocks, 2 * blocks);
    EXPECT_EQ(recorder.stats().blocks_not_in_it(), 0);
    const Scan scan = open_scan(toml_);
    EXPECT_EQ(scan.geometry.volumes, 2);
    EXPECT_TRUE(scan.recording.complete);
    EXPECT_EQ(scan.recording.subject, "E 7");
    EXPECT_EQ(scan.recording.note, "left eye");
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

class RecorderDiskTest : public RecorderTest {
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
    RecordingNotes notes_of(const std::string& name) const { return open_scan(folder_ / "rec" / name).recording; }

    std::atomic<double> clock_s_ = 0;
    std::atomic<int> opened_ = 0;
    std::mutex mutex_;
    std::string trouble_;
};

TEST_F(RecorderDiskTest, ContinuesInNewFilesAfterFailedFlush) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file == 0 && flush == 5; }));
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
TEST_F(RecorderDiskTest, SkipsDoubtfulBlockMissingOnDisk) {
    {
        Recorder recorder(wanted(), tools([](int file, int flush) { return file == 0 && flush == 5; }));
        offer(recorder, 0, 9);
    }
    Bytes raw = bytes_of(raw_);
    std::fill(raw.begin() + source_.volume_bytes() + source_.block(3).bytes, raw.end(), std::byte{});
    put(raw_, raw);
    expect_opens_with(toml_, source_, 4);
}

TEST_F(RecorderDiskTest, DiskThatNeverFlushesGetsNoNewFiles) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file > 0 || flush > 0; }));
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
TEST_F(RecorderDiskTest, LimitsNewFilesAfterFlushesStopWorking) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file > 0 || flush >= 5; }));
    offer(recorder, 0, 20);
    EXPECT_GT(clock_s_, 18);
    recorder.finish();
    EXPECT_EQ(opened_, 3) << "the first, when a flush failed, and ten seconds later";
    EXPECT_EQ(recorder.stats().files, 1);
    EXPECT_EQ(recorder.stats().blocks, 20);
    EXPECT_EQ(recorder.stats().doubtful_blocks, 16);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("its last blocks may be damaged; check the disk)"));
}

// No block followed, so the final report must describe the existing files.
TEST_F(RecorderDiskTest, DoesNotNameEmptyNewFiles) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file == 0 && flush == 5; }));
    offer(recorder, 0, 5);
    set_trouble("no space");
    offer(recorder, 5, 6);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("the recording continues in "));
    recorder.finish();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "rec" / "scan-2.raw"));
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("its last blocks may be damaged; check the disk)"));
    EXPECT_EQ(recorder.stats().files, 1);
    EXPECT_EQ(recorder.stats().missing_blocks, 1);
}

// No block of the new recording is flushed to the disk.
TEST_F(RecorderDiskTest, KeepsAndNamesRecordingToReplace) {
    { Recorder(wanted()).offer(source_.block(0)); }
    const std::filesystem::path before = folder_ / "rec" / "scan.before";
    const Bytes earlier = bytes_of(raw_);
    Recorder recorder(wanted(true), tools([](int file, int flush) { return file > 0 || flush > 0; }));
    offer(recorder, 0, 3);
    const std::string kept = "; the recording that was to be replaced is kept in " + before.string();
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("check the disk" + kept));
    recorder.finish();
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("check the disk" + kept));
    EXPECT_EQ(bytes_of(before / "scan.raw"), earlier);
}

// Blocks before the failed ones are flushed, even if the index has no space to record the failure.
TEST_F(RecorderDiskTest, FlushesWrittenBlocksDespiteFullIndex) {
    std::atomic<bool> is_full = false;
    RecordingTools full = watched_raw([&](std::int64_t, std::span<const std::byte>) {
        if (is_full) throw Error(ErrorCode::output, "no space", "scan.raw");
    });
    full.seconds = [this] { return clock_s_.load(); };
    full.open_index = [&, open = full.open_index](const std::filesystem::path& path) {
        const auto rejects = [&](std::int64_t, std::span<const std::byte>) {
            if (is_full) throw Error(ErrorCode::output, "no space", "scan.index.csv");
        };
        return std::make_unique<WatchedFile>(open(path), rejects, [] {});
    };
    Recorder recorder(wanted(), full);
    offer(recorder, 0, 2);
    EXPECT_EQ(recorder.stats().durable_blocks, 0);
    is_full = true;
    clock_s_ = 1;
    offer(recorder, 2, 3);
    EXPECT_TRUE(becomes_true([&] { return recorder.stats().durable_blocks == 2; }));
    EXPECT_EQ(recorder.stats().missing_blocks, 1);
    is_full = false;
    recorder.finish();
    EXPECT_EQ(rows().back().missing, 1);
}

TEST_F(RecorderDiskTest, FailedLastFlushIsIncomplete) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file == 0 && flush == 4; }));
    offer(recorder, 0, 3);
    recorder.finish();
    EXPECT_EQ(recorder.stats().files, 1);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("its last blocks may be damaged; check the disk"));
    EXPECT_FALSE(notes_of("scan.toml").complete);
    expect_opens_with(toml_, source_, 3);
}

// A later flush that succeeds is not trusted.
TEST_F(RecorderDiskTest, LaterSuccessDoesNotClearFailedFlush) {
    int flushes = 0;
    Recorder recorder(wanted(), tools([&](int file, int flush) {
                          ++flushes;
                          return file == 0 && flush == 3;
                      }));
    offer(recorder, 0, 3);
    recorder.finish();
    EXPECT_GT(flushes, 4) << "else this tests nothing";
    EXPECT_FALSE(notes_of("scan.toml").complete);
}

// Whichever exception is thrown, the block is counted and the next one is tried.
TEST_F(RecorderDiskTest, CountsBlocksLostToAnyException) {
    const std::vector<std::function<void()>> throwers{[] { throw std::bad_alloc(); },
                                                      [] { throw std::runtime_error("strange"); },
                                                      [] { throw Error(ErrorCode::output, "usual"); }};
    for (const auto& thrower : throwers) {
        RecordingRequest again = wanted(true);
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

// A real file that records preallocation requests without executing them.
class RoomNotingFile final : public ForwardingFile {
  public:
    RoomNotingFile(std::unique_ptr<DurableFile> file, std::vector<std::int64_t>& ends)
        : ForwardingFile(std::move(file)), ends_(ends) {}
    bool reserve(std::int64_t end) override {
        ends_.push_back(end);
        return true;
    }

  private:
    std::vector<std::int64_t>& ends_;
};

// New files are tried at once if at least one block is on the disk.
TEST_F(RecorderDiskTest, BeginsNewFilesAfterOneFlushedBlock) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file == 0 && flush >= 2; }));
    offer(recorder, 0, 4);
    recorder.finish();
    EXPECT_EQ(recorder.stats().files, 2);
    EXPECT_EQ(recorder.stats().doubtful_blocks, 1);
}

TEST_F(RecorderDiskTest, BeginsFurtherFilesAfterNewFilesWorked) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file < 2 && flush >= 2; }));
    offer(recorder, 0, 7);
    EXPECT_LT(clock_s_, 10);
    recorder.finish();
    EXPECT_EQ(recorder.stats().files, 3);
    EXPECT_EQ(recorder.stats().doubtful_blocks, 2);
    EXPECT_EQ(open_scan(folder_ / "rec" / "scan-3.toml").recording.continues, "scan.toml");
}

// Files that can be created but not filled are retried every ten seconds: strictly more than ten must pass.
TEST_F(RecorderDiskTest, LimitsNewFilesIfOnlyEmptyFilesFlush) {
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
TEST_F(RecorderDiskTest, RequestsRoomForWholeRecordingOnce) {
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

TEST_F(RecorderDiskTest, ReportsLongestTimesOfAllFiles) {
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

TEST_F(RecorderDiskTest, BlocksAndEndWakeWriter) {
    UntimedThreads threads;
    RecordingTools tools = RecordingTools::real();
    tools.threads = &threads;
    Recorder recorder(wanted(), tools);
    offer(recorder, 0, 2);
    recorder.finish();
    EXPECT_EQ(recorder.stats().durable_blocks, 2);
}

// The missing block is known, and safe against a power cut, without waiting for the next block.
TEST_F(RecorderDiskTest, WritesMissingBlockToIndexAtOnce) {
    Recorder recorder(wanted(), tools([](int, int) { return false; }));
    offer(recorder, 0, 1);
    set_trouble("no space");
    offer(recorder, 1, 2);
    ASSERT_TRUE(becomes_true([&] { return rows().size() == 2; }));
    EXPECT_EQ(rows().back().missing, 1);
}

// A full disk after that is not reported again: its blocks are counted.
TEST_F(RecorderDiskTest, KeepsReportingFailedFlush) {
    Recorder recorder(wanted(), tools([](int file, int flush) { return file == 0 && flush == 2; }));
    offer(recorder, 0, 3);
    set_trouble("no space");
    offer(recorder, 3, 4);
    EXPECT_EQ(recorder.stats().missing_blocks, 1);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("cannot be flushed"));
}

TEST_F(RecorderDiskTest, ReportsNewestWriteProblem) {
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
TEST_F(RecorderDiskTest, DoesNotReportRestoredRecordingAsKept) {
    { Recorder(wanted()).offer(source_.block(0)); }
    const Bytes earlier = bytes_of(raw_);
    Recorder recorder(wanted(true), tools([](int, int flush) { return flush > 0; }));
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
