// Tests of a recorder that runs out of memory on either of its threads: blocks and problems that cannot be stored are
// still counted and reported.
#include <atomic>

#include "allocations.h"
#include "recording_disks.h"

namespace echolux::faults {
namespace {

TEST(RecorderWithoutMemory, CountsBlocksThatCannotBeNoted) {
    const TemporaryFolder folder;
    const SmallSource source;
    RecordingRequest wanted{.scan_toml = folder / "scan.toml", .scan = source.scan(), .max_blocks_held = 100};
    Gate gate;
    std::atomic<int> writing = 0;
    Recorder recorder(wanted, watched_raw([&](std::int64_t, std::span<const std::byte>) {
                          ++writing;
                          gate.pass();
                      }));
    EXPECT_TRUE(recorder.offer(source.block(0)));
    ASSERT_TRUE(becomes_true([&] { return writing == 1; }));
    std::int64_t unnoted = 0;
    for (std::int64_t number = 1; number < 9; ++number) {
        const Block block = source.block(number);
        Allocations::begin(0);
        const bool is_in = recorder.offer(block);
        Allocations::end();
        if (is_in) continue;
        if (++unnoted == 1) {
            EXPECT_THAT(recorder.problem()->line(), testing::HasSubstr("1 block missing"));
        }
    }
    EXPECT_GT(unnoted, 0) << "no memory was asked for";
    EXPECT_EQ(recorder.stats().missing_blocks, unnoted);
    gate.open();
    recorder.finish();
    EXPECT_EQ(recorder.stats().missing_blocks, unnoted);
    EXPECT_EQ(recorder.stats().blocks, 9 - unnoted);
    const RecordingNotes notes = open_scan(wanted.scan_toml).recording;
    EXPECT_EQ(notes.missing_blocks, unnoted);
    EXPECT_FALSE(notes.complete);
}

// Storing the disk's error message needs memory, too.
TEST(RecorderWithoutMemory, ReportsProblemsThatCannotBeNoted) {
    const TemporaryFolder folder;
    const SmallSource source;
    RecordingRequest wanted{.scan_toml = folder / "scan.toml", .scan = source.scan()};
    int writes = 0;
    Recorder recorder(wanted, watched_raw([&](std::int64_t, std::span<const std::byte>) {
                          if (++writes != 2) return;
                          struct Strange : std::exception {
                              const char* what() const noexcept override {
                                  Allocations::begin(0);  // the next allocation fails
                                  return "cannot be written for a reason that takes many words";
                              }
                          };
                          throw Strange();
                      }));
    for (std::int64_t number = 0; number < 2; ++number) {
        EXPECT_TRUE(recorder.offer(source.block(number)));
        ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks_held == 0; }));
    }
    Allocations::end();
    EXPECT_THAT(recorder.problem()->line(), testing::HasSubstr("memory ran out"));
    EXPECT_FALSE(recorder.offer(source.block(2)));
    recorder.finish();
    EXPECT_EQ(recorder.stats().missing_blocks, 1);
    EXPECT_EQ(recorder.stats().blocks, 2);
}

}  // namespace
}  // namespace echolux::faults
