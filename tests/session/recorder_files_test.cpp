// A recording beside other files and recordings: nothing is removed before its replacement is on the disk, and of two
// recordings with one name, in one process or two, one is refused and leaves no files.
#include <gmock/gmock.h>

#include <barrier>
#include <map>

#include "compute/indexing.h"
#include "engine/io/durable_file.h"
#include "engine/io/output_rule.h"
#include "engine/live/recorder.h"
#include "engine/simulate/truth.h"
#include "recorder_fixture.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class RecorderReplaceTest : public RecorderTest {
  protected:
    std::map<std::string, Bytes> everything() const {
        std::map<std::string, Bytes> files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "rec")) {
            if (entry.is_regular_file())
                files[std::filesystem::relative(entry.path(), folder_ / "rec").string()] = bytes_of(entry.path());
        }
        return files;
    }

    // Returns settings with calibration, which differs if `replaces`.
    RecordingRequest calibrated(bool replaces) const {
        RecordingRequest with = wanted();
        with.scan.calibration.dark.assign(SmallSource::samples, replaces ? 8 : 7);
        with.replace = replaces;
        return with;
    }

    void record_first(std::int64_t blocks) {
        Recorder recorder(calibrated(false));
        offer_slowly(recorder, 0, blocks);
    }

    std::filesystem::path before_ = folder_ / "rec" / "scan.before";
};

TEST_F(RecorderReplaceTest, KeepsEarlierRecordingUntilFirstBlockIsOnDisk) {
    record_first(6);
    std::atomic<double> clock = 0;
    RecordingTools tools = watched_raw([&](std::int64_t, std::span<const std::byte>) { clock = clock + 0.3; });
    tools.seconds = [&] { return clock.load(); };
    Recorder recorder(calibrated(true), tools);
    expect_opens_with(before_ / "scan.toml", source_, 6);
    EXPECT_EQ(open_scan(before_ / "scan.toml").calibration.dark.front(), 7);
    EXPECT_THAT(error_of([&] { open_scan(toml_); }).line, testing::HasSubstr("before its first whole block"));
    offer_slowly(recorder, 0, 1);
    expect_opens_with(before_ / "scan.toml", source_, 6);
    offer_slowly(recorder, 1, 2);
    ASSERT_TRUE(becomes_true([&] { return recorder.stats().durable_blocks == 2; }));
    EXPECT_FALSE(std::filesystem::exists(before_));
    recorder.finish();
    expect_opens_with(toml_, source_, 2);
    EXPECT_EQ(open_scan(toml_).calibration.dark.front(), 8);
    EXPECT_EQ(everything().size(), 4u) << "TOML, spectra, index, calibration";
}

TEST_F(RecorderReplaceTest, RestoresEarlierRecordingWithoutBlocks) {
    record_first(6);
    const auto before = everything();
    { Recorder recorder(calibrated(true)); }
    EXPECT_EQ(everything(), before);
    EXPECT_FALSE(std::filesystem::exists(before_));
    {
        Recorder recorder(calibrated(true), watched_raw([](std::int64_t, std::span<const std::byte>) {
                              throw Error(ErrorCode::output, "no space", "scan.raw");
                          }));
        offer_slowly(recorder, 0, 3);
    }
    EXPECT_EQ(everything(), before);
}

TEST_F(RecorderReplaceTest, RestoresEarlierRecordingAfterFailedStart) {
    record_first(6);
    const auto before = everything();
    RecordingTools tools = RecordingTools::real();
    tools.open_index = [](const std::filesystem::path& path) -> std::unique_ptr<DurableFile> {
        throw std::runtime_error("no memory for " + path.string());
    };
    EXPECT_THROW(Recorder(calibrated(true), tools), std::runtime_error);
    EXPECT_EQ(everything(), before);
}

// A program killed at that moment leaves the earlier recording in this folder.
TEST_F(RecorderReplaceTest, KeepsFolderOfEarlierInterruptedReplacement) {
    record_first(6);
    std::filesystem::create_directory(before_);
    put(before_ / "scan.raw", source_.file(2));
    record(calibrated(true), 3);
    expect_opens_with(toml_, source_, 3);
    EXPECT_EQ(bytes_of(before_ / "scan.raw"), source_.file(2));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "rec" / "scan.before-2"));
}

TEST_F(RecorderReplaceTest, KeepsForeignCalibrationFiles) {
    const Bytes theirs = source_.file(1);
    put(folder_ / "rec" / "scan.dark.f64", theirs);
    for (const bool replaces : {false, true}) {
        {
            Recorder recorder(calibrated(replaces));
            EXPECT_TRUE(std::filesystem::exists(folder_ / "rec" / "scan.dark-2.f64"));
        }
        EXPECT_EQ(everything().size(), 1u);
        record(calibrated(replaces), 3);
        EXPECT_EQ(bytes_of(folder_ / "rec" / "scan.dark.f64"), theirs);
        EXPECT_EQ(open_scan(toml_).calibration.dark.front(), replaces ? 8 : 7);
        if (replaces) break;
        for (const char* made : {"scan.toml", "scan.raw", "scan.index.csv", "scan.dark-2.f64"})
            std::filesystem::remove(folder_ / "rec" / made);
    }
}

// The user edited the TOML of a recording to name another file, whose name only resembles those that the recorder
// gives.
TEST_F(RecorderReplaceTest, KeepsCalibrationChosenByUser) {
    const Bytes theirs = source_.file(1);
    for (const char* name : {"scan.dark-mine.f64", "scan.darker.f64", "scan.dark-.f64", "scan.dark-2b.f64",
                             "scan.dark2.f64", "scan.dark--2.f64"}) {
        SCOPED_TRACE(name);
        RecordingRequest again = calibrated(false);
        again.replace = true;
        record(again, 3);
        put(folder_ / "rec" / name, theirs);
        const Bytes toml = bytes_of(toml_);
        std::string text(reinterpret_cast<const char*>(toml.data()), toml.size());
        const std::string said = "\"scan.dark.f64\"";
        ASSERT_NE(text.find(said), std::string::npos);
        text.replace(text.find(said), said.size(), "\"" + std::string(name) + "\"");
        put(toml_, std::as_bytes(std::span(text)));
        record(calibrated(true), 3);
        EXPECT_EQ(bytes_of(folder_ / "rec" / name), theirs);
        std::filesystem::remove(folder_ / "rec" / "scan.dark.f64");  // no longer named by that TOML
        std::filesystem::remove(folder_ / "rec" / name);
    }
}

// A simulated recording has a folder with its ground truth, which is outdated once the recording is replaced.
TEST_F(RecorderReplaceTest, RemovesTruthWithReplacedRecording) {
    const std::filesystem::path truth = folder_ / "rec" / "scan.truth";
    const Bytes its = source_.file(1);
    const auto make_truth = [&] {
        std::filesystem::create_directory(truth);
        for (const std::filesystem::path& file : truth_files(truth)) put(file, its);
    };
    record_first(6);
    make_truth();
    const auto before = everything();
    { Recorder recorder(calibrated(true)); }
    EXPECT_EQ(everything(), before) << "no block came";
    {
        Recorder recorder(calibrated(true));
        EXPECT_FALSE(std::filesystem::exists(truth));
        EXPECT_EQ(bytes_of(before_ / "scan.truth" / "truth.toml"), its);
        offer_slowly(recorder, 0, 3);
    }
    EXPECT_FALSE(std::filesystem::exists(truth)) << "what the new one shows is something else";
    EXPECT_FALSE(std::filesystem::exists(before_));
    make_truth();
    put(truth / "notes.txt", its);
    record(calibrated(true), 3);
    EXPECT_EQ(bytes_of(before_ / "scan.truth" / "notes.txt"), its) << "somebody else's";
    EXPECT_EQ(everything().size(), 5u);
}

TEST_F(RecorderReplaceTest, KeepsFolderWithoutTruth) {
    record_first(3);
    const std::filesystem::path truth = folder_ / "rec" / "scan.truth";
    std::filesystem::create_directory(truth);
    put(truth / "notes.txt", source_.file(1));
    record(calibrated(true), 3);
    EXPECT_EQ(bytes_of(truth / "notes.txt"), source_.file(1));
    std::filesystem::remove_all(truth);
    const std::filesystem::path elsewhere = folder_ / "elsewhere";
    std::filesystem::create_directory(elsewhere);
    put(elsewhere / "truth.toml", source_.file(1));
    std::filesystem::create_symlink(elsewhere, truth);
    record(calibrated(true), 3);
    EXPECT_EQ(bytes_of(elsewhere / "truth.toml"), source_.file(1));
}

// `scan.toml` described a camera and named the file. The user gave up the TOML, but not the files it names.
TEST_F(RecorderReplaceTest, KeepsCalibrationOfPlainScan) {
    const Bytes theirs = source_.file(1);
    put(folder_ / "rec" / "scan.dark.f64", theirs);
    const std::string text = "[calibration]\ndark = \"scan.dark.f64\"\n";
    put(toml_, std::as_bytes(std::span(text)));
    record(calibrated(true), 3);
    EXPECT_EQ(bytes_of(folder_ / "rec" / "scan.dark.f64"), theirs);
    EXPECT_EQ(open_scan(toml_).calibration.dark.front(), 8);
}

class RecorderLockTest : public RecorderTest {
  protected:
    RecordingRequest calibrated(bool replaces = false) const {
        RecordingRequest with = wanted();
        with.scan.calibration.dark.assign(SmallSource::samples, 7);
        with.replace = replaces;
        return with;
    }

    // Starts two recorders at the same time. Returns the one that records.
    std::unique_ptr<Recorder> winner_of_two(bool replaces) {
        std::array<std::unique_ptr<Recorder>, 2> recorders;
        std::array<std::string, 2> refusals;
        std::barrier<> together(2);
        const auto begin = [&](std::size_t which) {
            together.arrive_and_wait();
            try {
                recorders.at(which) = std::make_unique<Recorder>(calibrated(replaces));
            } catch (const Error& error) {
                refusals.at(which) = error.line();
            }
        };
        {
            const std::jthread other([&] { begin(1); });
            begin(0);
        }
        const std::size_t winner = recorders[0] ? 0 : 1, loser = 1 - winner;
        EXPECT_TRUE(recorders.at(winner)) << refusals[0] << "\n" << refusals[1];
        EXPECT_FALSE(recorders.at(loser)) << "both record";
        EXPECT_THAT(refusals.at(loser), HasSubstr("scan.toml: is being recorded (choose another name"));
        return std::move(recorders.at(winner));
    }

    void expect_whole(std::int64_t blocks) const {
        expect_opens_with(toml_, source_, blocks);
        const Scan scan = open_scan(toml_);
        EXPECT_TRUE(scan.recording.complete);
        EXPECT_EQ(scan.calibration.dark.size(), index(SmallSource::samples));
    }
};

TEST_F(RecorderLockTest, RefusesNameThatIsBeingRecorded) {
    for (const bool replaces : {false, true}) {
        SCOPED_TRACE(replaces);
        Recorder recorder(calibrated(replaces));
        offer_slowly(recorder, 0, 2);
        for (const bool second_replaces : {false, true}) {
            EXPECT_THAT(error_of([&] { Recorder second(calibrated(second_replaces)); }).line,
                        HasSubstr("scan.toml: is being recorded (choose another name, or stop that recording first)"));
        }
        offer_slowly(recorder, 2, 6);
        recorder.finish();
        expect_whole(6);
    }
}

TEST_F(RecorderLockTest, AcceptsOneOfTwoStartedTogether) {
    for (int round = 0; round < 20; ++round) {
        const bool replaces = round % 2 == 1;
        const std::unique_ptr<Recorder> winner = winner_of_two(replaces);
        if (!winner) return;
        offer_slowly(*winner, 0, 3);
        winner->finish();
        expect_whole(3);
        EXPECT_FALSE(std::filesystem::exists(folder_ / "rec" / "scan.before"));
        if (!replaces) continue;
        std::filesystem::remove_all(folder_ / "rec");
        std::filesystem::create_directory(folder_ / "rec");
    }
}

TEST_F(RecorderLockTest, ReplacesKilledRecording) {
    blocks_written_until_kill_9(calibrated(), source_, 3);
    EXPECT_THAT(error_of([&] { Recorder second(calibrated()); }).line, HasSubstr("already exists"));
    record(calibrated(true), 6);
    expect_whole(6);
}

// Both recordings use the same stripe name. The stripe of the replaced one was deleted by hand.
TEST_F(RecorderLockTest, KeepsStripeOfRunningRecordingInOtherFolder) {
    std::filesystem::create_directory(folder_ / "disk2");
    std::filesystem::create_directory(folder_ / "other");
    RecordingRequest striped = wanted();
    striped.stripe_folders = {folder_ / "disk2"};
    record(striped, 3);
    const std::filesystem::path stripe = folder_ / "disk2" / "scan.stripe-2.raw";
    std::filesystem::remove(stripe);
    RecordingRequest elsewhere = striped;
    elsewhere.scan_toml = folder_ / "other" / "scan.toml";
    Recorder running(elsewhere);
    offer_slowly(running, 0, 3);
    {
        RecordingRequest again = wanted(true);
        Recorder second(again);
        offer_slowly(second, 0, 3);
    }
    EXPECT_TRUE(std::filesystem::exists(stripe));
    EXPECT_THAT(error_of([&] {
                    RecordingRequest third = striped;
                    third.scan_toml = folder_ / "scan.toml";
                    Recorder(std::move(third));
                }).line,
                HasSubstr("scan.stripe-2.raw: is being recorded"));
    running.finish();
    expect_opens_with(elsewhere.scan_toml, source_, 3);
}

TEST_F(RecorderLockTest, IsNotReplacedByOtherResults) {
    Recorder recorder(calibrated());
    offer_slowly(recorder, 0, 2);
    for (const char* name : {"scan.toml", "scan.raw", "scan.index.csv"}) {
        EXPECT_THAT(error_of([&] { check_outputs({{folder_ / "rec" / name}}, {}, true); }).line,
                    HasSubstr(std::string(name) + ": is being recorded"));
    }
    recorder.finish();
}

TEST_F(RecorderLockTest, LimitsWaitForFolder) {
    const FolderTurn somebody_elses(toml_);
    record(calibrated(), 3);
    expect_whole(3);
}

TEST_F(RecorderTest, BeginsOneRecordingAtOnce) {
    Recording recording;
    Gate gate;
    std::atomic<bool> is_opening = false;
    RecordingTools slow = RecordingTools::real();
    slow.open_raw = [&, open = slow.open_raw](const std::filesystem::path& path) {
        is_opening = true;
        gate.pass();
        return open(path);
    };
    std::jthread first([&] { recording.begin(wanted(), slow); });
    EXPECT_TRUE(becomes_true([&] { return is_opening.load(); }));
    RecordingRequest other = wanted();
    other.scan_toml = folder_ / "rec" / "other.toml";
    EXPECT_THAT(error_of([&] { recording.begin(other, RecordingTools::real()); }).line,
                HasSubstr("is already running"));
    gate.open();
    first.join();
    EXPECT_TRUE(std::filesystem::exists(raw_));
    EXPECT_TRUE(recording.end());
    other.max_blocks_held = 0;
    EXPECT_THAT(error_of([&] { recording.begin(other, RecordingTools::real()); }).line,
                HasSubstr("hold at least one block"));
    other.max_blocks_held = 1;
    EXPECT_NO_THROW(recording.begin(other, RecordingTools::real())) << "the one that failed has let go";
}

}  // namespace
}  // namespace echolux
