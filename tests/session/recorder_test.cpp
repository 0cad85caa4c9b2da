// Recording: blocks are in the file where the TOML says. Missing ones are counted, marked and reported, and a recording
// is `complete` only if it contains every block from its first to its last, regardless of the cause of a loss.
#include <fmt/chrono.h>
#include <array>
#include <cstdlib>

#include "compute/indexing.h"
#include "engine/live/recorder.h"
#include "engine/live/session.h"
#include "noting_sink.h"
#include "recorder_fixture.h"

namespace echolux {
namespace {

using namespace echolux::test;
using testing::HasSubstr;
using testing::Not;

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
        Recorder recorder(wanted(true));
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
        RecordingRequest again = wanted(true);
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
            Recorder recorder(wanted(true));
            Block block = source_.block(0);
            block.frames = {offset, stride};
            EXPECT_EQ(recorder.offer(block), fits) << header << " " << offset << " " << stride;
            recorder.finish();
            EXPECT_EQ(recorder.stats().refused_blocks, fits ? 0 : 1);
        }
    }
}

// A file without preallocation.
class UnreservedFile final : public ForwardingFile {
  public:
    using ForwardingFile::ForwardingFile;
    bool reserve(std::int64_t) override { return false; }
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

// Returns the block with another sequence number.
Block numbered(Block block, std::uint64_t sequence) {
    block.sequence = sequence;
    return block;
}

class RecorderHolesTest : public RecorderTest {
  protected:
    // Checks the TOML's notes after the end, and after a cut at the end.
    void expect_notes(Recorder& recorder, const Bytes& unfinished, std::int64_t lost_b_scans,
                      std::int64_t interruptions) {
        recorder.finish();
        EXPECT_EQ(line_of_problem(recorder), "");
        EXPECT_EQ(recorder.stats().lost_b_scans, lost_b_scans);
        EXPECT_EQ(recorder.stats().interruptions, interruptions);
        const RecordingNotes notes = open_scan(toml_).recording;
        EXPECT_TRUE(notes.finished);
        EXPECT_FALSE(notes.complete);
        EXPECT_EQ(notes.lost_b_scans, lost_b_scans);
        EXPECT_EQ(notes.interruptions, interruptions);
        put(toml_, unfinished);
        const RecordingNotes cut = open_scan(toml_).recording;
        EXPECT_FALSE(cut.complete);
        EXPECT_EQ(cut.lost_b_scans, lost_b_scans);
        EXPECT_EQ(cut.interruptions, interruptions);
    }
};

// The camera counts from zero again without knowing of a loss; the session makes the next volume of it.
TEST_F(RecorderHolesTest, NotesInterruptionWithinVolume) {
    for (const bool is_noted : {false, true}) {
        Recorder recorder(wanted(true));
        const Bytes unfinished = bytes_of(toml_);
        offer_slowly(recorder, 0, 4);
        if (is_noted) recorder.note_interruption();
        for (std::int64_t number = 6; number < 9; ++number)
            ASSERT_TRUE(recorder.offer(numbered(source_.block(number), static_cast<std::uint64_t>(number - 2))));
        expect_notes(recorder, unfinished, 4, is_noted ? 1 : 0);
        EXPECT_EQ(rows()[4].interruptions, is_noted ? 1 : 0);
        EXPECT_EQ(bytes_of(raw_), source_.file(9, {4, 5}));
    }
}

TEST_F(RecorderHolesTest, NotesInterruptionAtEnd) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 3);
    recorder.note_interruption();
    recorder.finish();
    EXPECT_FALSE(open_scan(toml_).recording.complete);
    EXPECT_EQ(open_scan(toml_).recording.interruptions, 1);
}

TEST_F(RecorderHolesTest, CountsLossOfFirstBlock) {
    Recorder recorder(wanted());
    const Bytes unfinished = bytes_of(toml_);
    EXPECT_TRUE(recorder.offer(source_.block(1))) << "within a volume: not of the recording";
    for (const std::int64_t number : {4, 5, 6}) EXPECT_TRUE(recorder.offer(source_.block(number)));
    expect_notes(recorder, unfinished, 3, 0);
}

TEST_F(RecorderHolesTest, CountsLossAtEnd) {
    {
        Recorder recorder(wanted());
        offer_slowly(recorder, 0, 3);
        recorder.note_lost(2);
    }
    EXPECT_EQ(open_scan(toml_).recording.lost_blocks, 2);
    EXPECT_FALSE(open_scan(toml_).recording.complete);
    {
        Recorder recorder(wanted(true));
        offer_slowly(recorder, 0, 3);
        Block misfit = source_.block(3);
        misfit.bytes -= 2;
        EXPECT_FALSE(recorder.offer(misfit));
    }
    EXPECT_EQ(open_scan(toml_).recording.refused_blocks, 1);
    EXPECT_FALSE(open_scan(toml_).recording.complete);
}

TEST_F(RecorderHolesTest, CountsLossOnce) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 4);
    recorder.note_lost(1);
    offer_slowly(recorder, 5, 6);
    recorder.finish();
    EXPECT_EQ(open_scan(toml_).recording.lost_blocks, 1);
    EXPECT_EQ(open_scan(toml_).recording.lost_b_scans, 3);
}

// A block that does not fit is not also counted as lost by the source. Blocks lost before it are counted once, even if
// several sides report them.
TEST_F(RecorderHolesTest, CountsRefusedBlockAndEarlierLossesOnce) {
    struct Case {
        const char* what;
        std::int64_t misfit;             // its number; blocks before 4 have arrived
        std::int64_t lost_before, told;  // as reported by the block, and by note_lost()
        std::int64_t next;               // next block that fits; -1: none
        std::int64_t lost_before_next, lost;
    };
    const std::vector<Case> cases{
        {"one alone", 4, 0, 0, 5, 0, 0},
        {"a loss that its number tells", 5, 0, 0, 6, 0, 1},
        {"a loss that it tells too", 5, 1, 0, 6, 0, 1},
        {"a loss that is reported before it as well", 5, 1, 1, 6, 0, 1},
        {"a loss that is reported before it alone", 4, 0, 1, 5, 0, 1},
        {"losses on both sides of it", 6, 2, 0, 8, 1, 3},
        {"a loss after it that a number tells", 4, 0, 0, 6, 0, 1},
        {"none after it", 5, 1, 0, -1, 0, 1},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.what);
        Recorder recorder(wanted(true));
        offer_slowly(recorder, 0, 4);
        recorder.note_lost(one.told);
        Block misfit = source_.block(one.misfit);
        misfit.bytes -= 2;
        misfit.lost_before = one.lost_before;
        EXPECT_FALSE(recorder.offer(misfit));
        if (one.next > 0) {
            Block next = source_.block(one.next);
            next.lost_before = one.lost_before_next;
            EXPECT_TRUE(recorder.offer(next));
        }
        recorder.finish();
        const RecordingNotes notes = open_scan(toml_).recording;
        EXPECT_EQ(notes.refused_blocks, 1);
        EXPECT_EQ(notes.lost_blocks, one.lost);
        EXPECT_FALSE(notes.complete);
    }
}

// The losses reported by a repeated block were already counted.
TEST_F(RecorderHolesTest, RepeatedBlockAddsNoLoss) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 5);
    Block again = source_.block(2);
    again.lost_before = 3;
    EXPECT_FALSE(recorder.offer(again));
    offer_slowly(recorder, 5, 6);
    recorder.finish();
    const RecordingNotes notes = open_scan(toml_).recording;
    EXPECT_EQ(notes.lost_blocks, 0);
    EXPECT_EQ(notes.refused_blocks, 1);
}

// Checks the same through a session, to which the source reports losses.
TEST_F(RecorderHolesTest, SessionPassesLossesToRecording) {
    struct Case {
        std::vector<Fault> script;
        bool is_complete;
        std::int64_t lost_blocks, lost_b_scans, interruptions;
    };
    const std::vector<Case> cases{
        {{send(8), end()}, true, 0, 0, 0},
        {{send(6), disconnect(), send(8), end()}, false, 0, 2, 1},
        {{send(8), disconnect(), send(8), end()}, false, 0, 0, 1},
        {{send(4), lose(1), send(3), end()}, false, 1, 1, 0},
        {{send(8), lose(3), end()}, false, 3, 0, 0},
        {{send(7), cut_short(), end()}, false, 1, 0, 0},
        {{send(4), cut_short(), send(3), end()}, false, 1, 1, 0},
        {{send(7), repeat(), send(1), end()}, true, 0, 0, 0},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        SCOPED_TRACE(i);
        NotingSink sink;
        FaultySource source(live_scan(), 1, cases[i].script);
        Session session(source, sink);
        RecordingRequest session_wanted = wanted();
        session_wanted.scan = source.scan();
        session_wanted.max_blocks_held = 100;
        session_wanted.replace = true;
        session.record(session_wanted);
        run_to_end(session);
        EXPECT_EQ(session.stop_recording().problem, std::nullopt);
        const RecordingNotes notes = open_scan(toml_).recording;
        EXPECT_EQ(notes.complete, cases[i].is_complete);
        EXPECT_EQ(notes.lost_blocks, cases[i].lost_blocks);
        EXPECT_EQ(notes.lost_b_scans, cases[i].lost_b_scans);
        EXPECT_EQ(notes.interruptions, cases[i].interruptions);
    }
}

// As written by earlier versions, without the last column and without `finished`.
TEST_F(RecorderHolesTest, OpensOlderRecordings) {
    record(wanted(), 3);
    const auto edit = [](const std::filesystem::path& path, const std::string& what, const std::string& to) {
        const Bytes bytes = bytes_of(path);
        std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + to.size()))
            text.replace(at, what.size(), to);
        put(path, std::as_bytes(std::span(text)));
    };
    const std::filesystem::path index = folder_ / "rec" / "scan.index.csv";
    edit(index, ",interruptions\n", "\n");
    edit(index, ",0\n", "\n");
    edit(toml_, "finished = true\n", "");
    EXPECT_FALSE(open_scan(toml_).recording.was_cut());
    expect_opens_with(toml_, source_, 3);
    edit(toml_, "complete = true\n", "");
    EXPECT_TRUE(open_scan(toml_).recording.was_cut());
    expect_opens_with(toml_, source_, 3);
}

}  // namespace
}  // namespace echolux
