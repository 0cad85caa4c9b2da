// A recording that replaces another one, next to files that belong to others: nothing is removed before its replacement
// is on the disk.
#include <map>

#include "engine/simulate/truth.h"
#include "recorder_fixture.h"

namespace echolux {
namespace {

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
    {
        Recorder recorder(calibrated(true));
        offer_slowly(recorder, 0, 3);
    }
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
        {
            Recorder recorder(calibrated(replaces));
            offer_slowly(recorder, 0, 3);
        }
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
        {
            Recorder recorder(again);
            offer_slowly(recorder, 0, 3);
        }
        put(folder_ / "rec" / name, theirs);
        const Bytes toml = bytes_of(toml_);
        std::string text(reinterpret_cast<const char*>(toml.data()), toml.size());
        const std::string said = "\"scan.dark.f64\"";
        ASSERT_NE(text.find(said), std::string::npos);
        text.replace(text.find(said), said.size(), "\"" + std::string(name) + "\"");
        put(toml_, std::as_bytes(std::span(text)));
        {
            Recorder recorder(calibrated(true));
            offer_slowly(recorder, 0, 3);
        }
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
    {
        Recorder recorder(calibrated(true));
        offer_slowly(recorder, 0, 3);
    }
    EXPECT_EQ(bytes_of(before_ / "scan.truth" / "notes.txt"), its) << "somebody else's";
    EXPECT_EQ(everything().size(), 5u);
}

TEST_F(RecorderReplaceTest, KeepsFolderWithoutTruth) {
    record_first(3);
    const std::filesystem::path truth = folder_ / "rec" / "scan.truth";
    std::filesystem::create_directory(truth);
    put(truth / "notes.txt", source_.file(1));
    {
        Recorder recorder(calibrated(true));
        offer_slowly(recorder, 0, 3);
    }
    EXPECT_EQ(bytes_of(truth / "notes.txt"), source_.file(1));
    std::filesystem::remove_all(truth);
    const std::filesystem::path elsewhere = folder_ / "elsewhere";
    std::filesystem::create_directory(elsewhere);
    put(elsewhere / "truth.toml", source_.file(1));
    std::filesystem::create_symlink(elsewhere, truth);
    {
        Recorder recorder(calibrated(true));
        offer_slowly(recorder, 0, 3);
    }
    EXPECT_EQ(bytes_of(elsewhere / "truth.toml"), source_.file(1));
}

// `scan.toml` described a camera and named the file. The user gave up the TOML, but not the files it names.
TEST_F(RecorderReplaceTest, KeepsCalibrationOfPlainScan) {
    const Bytes theirs = source_.file(1);
    put(folder_ / "rec" / "scan.dark.f64", theirs);
    const std::string text = "[calibration]\ndark = \"scan.dark.f64\"\n";
    put(toml_, std::as_bytes(std::span(text)));
    {
        Recorder recorder(calibrated(true));
        offer_slowly(recorder, 0, 3);
    }
    EXPECT_EQ(bytes_of(folder_ / "rec" / "scan.dark.f64"), theirs);
    EXPECT_EQ(open_scan(toml_).calibration.dark.front(), 8);
}

}  // namespace
}  // namespace echolux
