// Background jobs: they report progress, stop on request, and their last step runs on the drawing thread only.
#include "app/jobs/jobs.h"
#include "engine/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <new>
#include <thread>

namespace echolux {
namespace {

class Working : public testing::Test {
  protected:
    Jobs::Failed fails() {
        return [this](const Error& error) { failures_.push_back(error.line()); };
    }

    std::vector<std::string> failures_;
    Jobs jobs_;
};

TEST_F(Working, RunsLastStepInCollectingThread) {
    std::thread::id worker, last;
    jobs_.start(
        "open",
        [&](Progress&) {
            worker = std::this_thread::get_id();
            return [&] { last = std::this_thread::get_id(); };
        },
        fails());
    EXPECT_FALSE(jobs_.is_idle());
    jobs_.finish();
    EXPECT_EQ(last, std::this_thread::get_id());
    EXPECT_NE(worker, last);
    EXPECT_TRUE(jobs_.is_idle());
    EXPECT_TRUE(failures_.empty());
}

TEST_F(Working, ReportsProgress) {
    std::latch told(1), heard(1);
    const std::uint64_t id = jobs_.start(
        "opening a.nrrd",
        [&](Progress& progress) {
            progress.begin("read", 10, "slices");
            progress.advance(3);
            progress.advance(1);
            told.count_down();
            heard.wait();
            return Jobs::LastStep{};
        },
        fails());
    told.wait();
    jobs_.collect();  // nothing to collect yet
    ASSERT_EQ(jobs_.states().size(), 1);
    const JobState state = jobs_.states().front();
    heard.count_down();
    EXPECT_EQ(state.id, id);
    EXPECT_EQ(state.title, "opening a.nrrd");
    EXPECT_EQ(state.task, "read");
    EXPECT_EQ(state.unit, "slices");
    EXPECT_EQ(state.done, 4);
    EXPECT_EQ(state.total, 10);
    EXPECT_FALSE(state.is_cancelled);
    jobs_.finish();
}

// Runs until stopped.
Jobs::LastStep endless(Progress& progress) {
    progress.begin("count", 0, "");
    for (;;) progress.advance(1);
}

// The work of these jobs is complete although they are cancelled.
TEST_F(Working, KeepsCompleteFilesOfCancelledJobs) {
    for (const LateCancel late : {LateCancel::drops_result, LateCancel::keeps_result}) {
        const auto request = std::make_shared<UserRequest>();
        bool is_noted = false;
        jobs_.belong(request, [&] {
            const std::uint64_t id = jobs_.start(
                "save", [&](Progress&) { return [&] { is_noted = true; }; }, fails(), late);
            jobs_.cancel(id);
        });
        jobs_.finish();
        EXPECT_EQ(is_noted, late == LateCancel::keeps_result);
        EXPECT_EQ(request->error.has_value(), late == LateCancel::drops_result);
    }
    EXPECT_TRUE(failures_.empty());
}

TEST_F(Working, CancelsWithoutReport) {
    bool is_last_done = false;
    const std::uint64_t endless_one = jobs_.start("endless", endless, fails());
    jobs_.start(
        "short", [&](Progress&) { return [&] { is_last_done = true; }; }, fails());
    jobs_.cancel(endless_one);
    EXPECT_TRUE(jobs_.states().front().is_cancelled);
    jobs_.finish();
    EXPECT_TRUE(is_last_done) << "the other one";
    EXPECT_TRUE(failures_.empty());
}

TEST_F(Working, SkipsLastStepOfCancelledJob) {
    bool is_last_done = false;
    std::latch begun(1), go_on(1);
    const std::uint64_t id = jobs_.start(
        "deaf",
        [&](Progress&) {
            begun.count_down();
            go_on.wait();
            return [&] { is_last_done = true; };
        },
        fails());
    begun.wait();
    jobs_.cancel(id);
    go_on.count_down();
    jobs_.finish();
    EXPECT_FALSE(is_last_done);
}

TEST_F(Working, ReportsErrorsWhenCollected) {
    jobs_.start(
        "a", [](Progress&) -> Jobs::LastStep { throw Error(ErrorCode::bad_file, "is broken", "a.nrrd"); }, fails());
    jobs_.start(
        "b", [](Progress&) -> Jobs::LastStep { throw std::bad_alloc(); }, fails());
    jobs_.start(
        "c", [](Progress&) { return [] { throw Error(ErrorCode::device, "is lost", "stage"); }; }, fails());
    EXPECT_TRUE(failures_.empty());
    jobs_.finish();
    ASSERT_EQ(failures_.size(), 3);
    std::ranges::sort(failures_);
    EXPECT_EQ(failures_[0], "a.nrrd: is broken");
    EXPECT_TRUE(failures_[1].starts_with("b: there is not enough memory")) << failures_[1];
    EXPECT_EQ(failures_[2], "stage: is lost");
}

TEST_F(Working, LastStepMayBeginAnotherJob) {
    bool is_second_done = false;
    jobs_.start(
        "first",
        [&](Progress&) {
            return [&] {
                jobs_.start(
                    "second", [&](Progress&) { return [&] { is_second_done = true; }; }, fails());
            };
        },
        fails());
    jobs_.finish();
    EXPECT_TRUE(is_second_done);
}

TEST(Jobs, CancelAllWhenDestroyed) {
    bool is_last_done = false;
    {
        Jobs jobs;
        for (int i = 0; i < 3; ++i) jobs.start("endless", endless, {});
        jobs.start("done", [&](Progress&) { return [&] { is_last_done = true; }; }, {});
    }
    EXPECT_FALSE(is_last_done);
}

// ---- progress messages ----------------------------------------------------------------------------------------------

TEST(ProgressWords, RoundsDurations) {
    EXPECT_EQ(duration_words(0), "0.0 s");
    EXPECT_EQ(duration_words(3.44), "3.4 s");
    EXPECT_EQ(duration_words(9.97), "10 s");
    EXPECT_EQ(duration_words(59.6), "1 min 00 s");
    EXPECT_EQ(duration_words(119.7), "2 min 00 s");
    EXPECT_EQ(duration_words(65), "1 min 05 s");
    EXPECT_EQ(duration_words(7380), "2 h 03 min");
    for (double seconds = 0; seconds < 4000; seconds += 0.37) {
        EXPECT_EQ(duration_words(seconds).find(" 60 s"), std::string::npos) << seconds;
    }
}

TEST(ProgressWords, OmitUnknownFigures) {
    EXPECT_EQ(words_of({.done = 0, .total = 512, .unit = "rows", .seconds = 0.01}), "0 %");
    EXPECT_EQ(words_of({.done = 0, .total = 512, .unit = "rows", .seconds = 9}), "0 %");
    EXPECT_EQ(words_of({.done = 128, .total = 512, .unit = "rows", .seconds = 2}), "25 %, 64 rows/s, 6.0 s left");
    EXPECT_EQ(words_of({.done = 1, .total = 512, .unit = "rows", .seconds = 10}), "0 %, 0.1 rows/s, 1 h 25 min left");
    EXPECT_EQ(words_of({.done = 3, .total = 8, .unit = "volumes", .seconds = 12}), "3 of 8 volumes, 12 s");
    EXPECT_EQ(words_of({.done = 40, .total = 100, .unit = "%", .seconds = 4}), "40 %, 6.0 s left");
}

// The last three of four parts take ten times as long as the first.
TEST(ProgressWords, HideRisingEstimates) {
    WorkProgress work{.done = 25, .total = 100, .unit = "rows", .seconds = 1};
    ASSERT_EQ(seconds_left(work), 3.0);
    work.max_left_s = 3;
    EXPECT_EQ(words_of(work), "25 %, 25 rows/s, 3.0 s left");
    work.done = 50;
    work.seconds = 11;
    EXPECT_EQ(words_of(work), "50 %, 4.5 rows/s");
    work.done = 95;
    work.seconds = 29;
    EXPECT_EQ(words_of(work), "95 %, 3.3 rows/s, 1.5 s left");
    EXPECT_EQ(seconds_left({.done = 0, .total = 100, .seconds = 9}), std::nullopt);
}

TEST(ProgressWords, ShowTimeUnits) {
    EXPECT_EQ(amount_words(60000, unit_of_time), "1 min 00 s");
    EXPECT_EQ(amount_words(0, unit_of_time), "");
    EXPECT_EQ(amount_words(256, "A-scans"), "256 A-scans");
    EXPECT_EQ(words_of({.done = 4000, .total = 60000, .unit = unit_of_time, .seconds = 4}), "4.0 s of 1 min 00 s");
    EXPECT_EQ(words_of({.done = 4000, .total = 0, .unit = unit_of_time, .seconds = 4}), "4.0 s");
}

TEST(ProgressWords, ShowDurationAtEnd) {
    EXPECT_EQ(words_of({.done = 512, .total = 512, .unit = "rows", .seconds = 4}), "done in 4.0 s, 128 rows/s");
    EXPECT_EQ(words_of({.done = 512, .total = 512, .unit = "rows", .seconds = 0.01}), "done in 0.0 s");
    EXPECT_EQ(words_of({.done = 100, .total = 100, .unit = "%", .seconds = 4}), "done in 4.0 s");
    EXPECT_EQ(words_of({.done = 60000, .total = 60000, .unit = unit_of_time, .seconds = 60}), "done in 1 min 00 s");
}

}  // namespace
}  // namespace echolux
