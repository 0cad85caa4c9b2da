// The parts of a live job's report that count as failures. They determine the exit codes of `record` and `live`.
#include "app/live/session_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace echolux {
namespace {

using testing::HasSubstr;

LiveReport report_of_a_good_job() {
    LiveReport report;
    report.source = "simulator (vessel)";
    report.session.arrived.blocks = 8;
    report.recorder = RecorderStats{};
    report.recorder->blocks = 8;
    return report;
}

std::string line_of(const LiveReport& report) {
    const std::optional<Error> problem = problem_of(report);
    return problem ? problem->line() : "";
}

TEST(LiveReport, CompletedJobHasNoProblem) {
    LiveReport report = report_of_a_good_job();
    EXPECT_EQ(line_of(report), "");
    report.recorder.reset();
    report.session.queue.overtaken_volumes = 5;  // newest wins
    EXPECT_EQ(line_of(report), "");
}

TEST(LiveReport, ReportsMissingData) {
    LiveReport empty = report_of_a_good_job();
    empty.recorder->blocks = 0;
    EXPECT_THAT(line_of(empty), HasSubstr("nothing was recorded"));
    empty.recorder.reset();
    EXPECT_EQ(line_of(empty), "");
    empty.session.arrived.blocks = 0;
    EXPECT_THAT(line_of(empty), HasSubstr("no spectra arrived"));

    LiveReport missing = report_of_a_good_job();
    missing.recorder->missing_blocks = 1;
    EXPECT_THAT(line_of(missing), HasSubstr("1 block is missing in the recording"));
    missing.recorder->problem = Error(ErrorCode::output, "no space left", "rec.raw");
    EXPECT_THAT(line_of(missing), HasSubstr("rec.raw: no space left"));

    LiveReport hole = report_of_a_good_job();
    hole.recorder->interruptions = 2;
    EXPECT_THAT(line_of(hole), HasSubstr("failed 2 times during the recording"));
    hole.recorder->lost_b_scans = 5;
    EXPECT_THAT(line_of(hole), HasSubstr("5 B-scans never arrived"));

    LiveReport lost = report_of_a_good_job();
    lost.session.arrived.lost_blocks = 2;
    EXPECT_THAT(line_of(lost), HasSubstr("2 blocks were lost by the source"));

    LiveReport failed = report_of_a_good_job();
    failed.session.failed_volumes = 3;
    EXPECT_THAT(line_of(failed), HasSubstr("3 volumes are missing"));
    failed.failure = "the graphics device was lost";
    EXPECT_THAT(line_of(failed), HasSubstr("the graphics device was lost"));
}

TEST(LiveReport, InterruptedJobIsCancelledAndReportsProgress) {
    LiveReport report = report_of_a_good_job();
    report.asked_volumes = 400;
    report.session.arrived.volumes = 85;
    report.session.seconds = 2.5;
    report.was_cut_short = true;
    EXPECT_EQ(problem_of(report)->code(), ErrorCode::cancelled);
    EXPECT_THAT(line_of(report), HasSubstr("interrupted after 85 of 400 volumes; 8 blocks are recorded"));
    EXPECT_THAT(text_of(report), HasSubstr("2.5 s, interrupted after 85 of 400 volumes\n"));
    EXPECT_THAT(json_of(report), HasSubstr("\"cut_short\": true"));
    EXPECT_THAT(json_of(report), HasSubstr("\"volumes\": 400"));
    report.asked_volumes = 0;
    report.asked_seconds = 60;
    EXPECT_THAT(line_of(report), HasSubstr("interrupted after 2.5 of 60 s"));
    report.recorder->blocks = 0;
    EXPECT_EQ(problem_of(report)->code(), ErrorCode::cancelled);
}

TEST(LiveReport, AddsOtherErrorsToInterruption) {
    LiveReport report = report_of_a_good_job();
    report.asked_volumes = 400;
    report.was_cut_short = true;
    report.recorder->missing_blocks = 4;
    EXPECT_EQ(problem_of(report)->code(), ErrorCode::cancelled);
    EXPECT_THAT(line_of(report), HasSubstr("4 blocks are missing in the recording"));
}

TEST(LiveReport, PartsThatDoNotExistAreAbsent) {
    LiveReport report = report_of_a_good_job();
    report.session.arrived.lost_blocks = 2;
    report.session.queue.overtaken_volumes = 3;
    report.session.failed_volumes = 1;
    const auto json = object_of(report);
    EXPECT_EQ(json["arrived"]["lost_blocks"], 2);
    EXPECT_EQ(json["reconstructed"]["left_out_volumes"], 4);
    EXPECT_EQ(json["latency"]["shown"]["count"], 0);
    EXPECT_EQ(json["recorder"]["blocks"], 8);
    EXPECT_TRUE(json["recorder"]["problem"].is_null());
    for (const char* part : {"ring", "tissue", "processed", "igtl", "devices"}) EXPECT_FALSE(json.contains(part));
}

// Run `ECHOLUX_WRITE=1 unit_tests --gtest_filter=*DocumentedStatistics*` to update the documentation.
TEST(LiveReport, DocumentedStatisticsMatchDescriptions) {
    const std::string path = ECHOLUX_SOURCE_DIR "/docs/statistics.md";
    const std::string begin = "<!-- made from the descriptions of statistics -->\n";
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const std::size_t at = text.str().find(begin);
    ASSERT_NE(at, std::string::npos);
    const std::string whole = text.str().substr(0, at) + begin + "\n" + statistics_table();
    if (std::getenv("ECHOLUX_WRITE") != nullptr) std::ofstream(path) << whole;
    EXPECT_TRUE(text.str() == whole) << path << " is out of date: run this test with ECHOLUX_WRITE=1";
}

}  // namespace
}  // namespace echolux
