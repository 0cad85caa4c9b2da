// Two recordings with one name, in one process or two: one records, the other is refused and leaves no files.
#include <gmock/gmock.h>

#include <barrier>

#include "compute/indexing.h"
#include "engine/io/durable_file.h"
#include "engine/io/output_rule.h"
#include "recorder_fixture.h"

namespace echolux {
namespace {

using testing::HasSubstr;

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

TEST_F(RecorderLockTest, ReplacesFinishedRecording) {
    auto recorder = std::make_unique<Recorder>(calibrated());
    offer_slowly(*recorder, 0, 3);
    recorder.reset();
    EXPECT_FALSE(is_being_recorded(toml_));
    {
        Recorder second(calibrated(true));
        offer_slowly(second, 0, 6);
    }
    expect_whole(6);
}

TEST_F(RecorderLockTest, ReplacesKilledRecording) {
    blocks_written_until_kill_9(calibrated(), source_, 3);
    EXPECT_THAT(error_of([&] { Recorder second(calibrated()); }).line, HasSubstr("already exists"));
    {
        Recorder second(calibrated(true));
        offer_slowly(second, 0, 6);
    }
    expect_whole(6);
}

// Both recordings use the same stripe name. The stripe of the replaced one was deleted by hand.
TEST_F(RecorderLockTest, KeepsStripeOfRunningRecordingInOtherFolder) {
    std::filesystem::create_directory(folder_ / "disk2");
    std::filesystem::create_directory(folder_ / "other");
    RecordingRequest striped = wanted();
    striped.stripe_folders = {folder_ / "disk2"};
    {
        Recorder first(striped);
        offer_slowly(first, 0, 3);
    }
    const std::filesystem::path stripe = folder_ / "disk2" / "scan.stripe-2.raw";
    std::filesystem::remove(stripe);
    RecordingRequest elsewhere = striped;
    elsewhere.scan_toml = folder_ / "other" / "scan.toml";
    Recorder running(elsewhere);
    offer_slowly(running, 0, 3);
    {
        RecordingRequest again = wanted();
        again.replace = true;
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
    {
        Recorder recorder(calibrated());
        offer_slowly(recorder, 0, 3);
    }
    expect_whole(3);
}

}  // namespace
}  // namespace echolux
