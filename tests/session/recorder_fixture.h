// A recorder of the small source, in a temporary folder.
#pragma once

#include "engine/scan/recording.h"
#include "recording_disks.h"

namespace echolux {

class RecorderTest : public ::testing::Test {
  protected:
    RecorderTest() { std::filesystem::create_directory(folder_ / "rec"); }

    RecordingRequest wanted(bool replaces = false) const {
        RecordingRequest wanted{
            .scan_toml = folder_ / "rec" / "scan.toml", .scan = source_.scan(), .replace = replaces};
        return wanted;
    }

    std::string line_of_problem(const Recorder& recorder) const {
        const std::optional<Error> problem = recorder.problem();
        return problem ? problem->line() : "";
    }

    std::vector<IndexRow> rows() const {
        std::vector<IndexRow> rows;
        read_index(folder_ / "rec" / "scan.index.csv", [&](const IndexRow& row) {
            rows.push_back(row);
            return true;
        });
        return rows;
    }

    // Simulates a fast disk: offers each block after the previous one is processed. offer() must return true until a
    // block fails, and false from then on.
    void offer_slowly(Recorder& recorder, std::int64_t first, std::int64_t end) {
        for (std::int64_t number = first; number < end; ++number) {
            const bool has_failed = recorder.stats().failed_blocks > 0;
            ASSERT_EQ(recorder.offer(source_.block(number)), !has_failed);
            ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks_held == 0; }));
        }
    }

    // Offers blocks to a disk that may fail, each after the previous one is processed.
    void offer(Recorder& recorder, std::int64_t first, std::int64_t end) {
        for (std::int64_t number = first; number < end; ++number) {
            recorder.offer(source_.block(number));
            ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks_held == 0; }));
        }
    }

    void record(const RecordingRequest& request, std::int64_t blocks,
                const RecordingTools& tools = RecordingTools::real()) {
        Recorder recorder(request, tools);
        offer_slowly(recorder, 0, blocks);
        recorder.finish();
    }

    TemporaryFolder folder_;
    SmallSource source_;
    std::filesystem::path toml_ = folder_ / "rec" / "scan.toml";
    std::filesystem::path raw_ = folder_ / "rec" / "scan.raw";
};

}  // namespace echolux
