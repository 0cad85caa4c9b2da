// The single recording of a session, started by several threads at once.
#include "engine/live/recorder.h"

#include "recorder_fixture.h"

namespace echolux {
namespace {

using testing::HasSubstr;

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
