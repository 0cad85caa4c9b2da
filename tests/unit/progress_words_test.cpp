// Progress messages: no rate or remaining time before they are known, and no minute of sixty seconds.
#include "engine/progress.h"

#include <gtest/gtest.h>

namespace echolux {
namespace {

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
