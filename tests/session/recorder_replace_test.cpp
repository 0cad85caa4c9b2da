// A recording that replaces another one, and files beside it that are somebody else's: nothing goes before what takes
// its place is on the disk.
#include <map>

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

    // With calibration.
    RecordingWanted calibrated(bool replaces) const {
        RecordingWanted with = wanted();
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

TEST_F(RecorderReplaceTest, TheEarlierOneStepsAsideUntilTheFirstBlockIsOnTheDisk) {
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
    ASSERT_TRUE(comes_true([&] { return recorder.stats().durable_blocks == 2; }));
    EXPECT_FALSE(std::filesystem::exists(before_));
    recorder.finish();
    expect_opens_with(toml_, source_, 2);
    EXPECT_EQ(open_scan(toml_).calibration.dark.front(), 8);
    EXPECT_EQ(everything().size(), 4u) << "TOML, spectra, index, calibration";
}

TEST_F(RecorderReplaceTest, TheEarlierOneComesBackWhereNoBlockCame) {
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

TEST_F(RecorderReplaceTest, TheEarlierOneComesBackWhereTheNewOneCannotBeMade) {
    record_first(6);
    const auto before = everything();
    RecordingTools tools = RecordingTools::real();
    tools.open_index = [](const std::filesystem::path& path) -> std::unique_ptr<DurableFile> {
        throw std::runtime_error("no memory for " + path.string());
    };
    EXPECT_THROW(Recorder(calibrated(true), tools), std::runtime_error);
    EXPECT_EQ(everything(), before);
}

// A program that was killed at that moment has left the one before there.
TEST_F(RecorderReplaceTest, WhatWaitsFromAnEarlierTimeIsNotTouched) {
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

TEST_F(RecorderReplaceTest, CalibrationThatIsSomebodyElsesIsNeitherReplacedNorRemoved) {
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

// `scan.toml` was a description of a camera that names the file: the user lets go of that one, not of what it names.
TEST_F(RecorderReplaceTest, CalibrationOfWhatWasNoRecordingStays) {
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
