// Default sizes of blocks and pools: one rule for all sources.
#include "engine/acquire/stream.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace echolux {
namespace {

// Each B-scan position has 2 repeats of 100 lines plus 20 flyback lines, with 1000 samples of 2 bytes: 480 000 bytes.
Scan scan_of(std::int64_t b_scans) {
    Scan scan;
    scan.geometry.samples = 1000;
    scan.geometry.a_scans = 100;
    scan.geometry.b_scans = b_scans;
    scan.geometry.b_repeats = 2;
    scan.geometry.flyback_lines = 20;
    return scan;
}

class FreeMemory {
  public:
    explicit FreeMemory(const char* mebibytes) { setenv("ECHOLUX_MEMORY_MIB", mebibytes, 1); }
    ~FreeMemory() { unsetenv("ECHOLUX_MEMORY_MIB"); }
};

TEST(BlockSize, IsAtMost16MiBAnd60thOfSecond) {
    EXPECT_EQ(block_size({}, scan_of(500), 0), 34) << "16777216 / 480000";
    EXPECT_EQ(block_size({}, scan_of(500), 1e6), 34);
    EXPECT_EQ(block_size({}, scan_of(500), 144'000), 10) << "2400 of 240 lines each";
    EXPECT_EQ(block_size({}, scan_of(500), 10), 1);
    EXPECT_EQ(block_size({}, scan_of(20), 0), 20) << "no more than a volume has";
    Scan with_headers = scan_of(500);
    with_headers.file.frame_offset_bytes = 1 << 20;
    EXPECT_EQ(block_size({}, with_headers, 0), 6) << "16777216 / (480000 + 2 * 1048576)";
}

TEST(BlockSize, FollowsSettings) {
    EXPECT_EQ(block_size({.block_b_scans = 7}, scan_of(500), 10), 7);
    EXPECT_EQ(block_size({.block_b_scans = 700}, scan_of(500), 10), 500);
    EXPECT_EQ(pool_size({.pool_blocks = 3}, scan_of(500), 1), 3);
}

// A plugin may be asked before any size is known, and a scan file may contain any size.
TEST(BlockSize, HandlesUncheckedSizes) {
    EXPECT_EQ(block_size({}, Scan{}, 0), 1);
    EXPECT_GE(pool_size({}, Scan{}, 1), 4);
    Scan huge = scan_of(1 << 24);
    huge.format.line_bytes = std::int64_t{1} << 32;
    huge.geometry.a_scans = huge.geometry.flyback_lines = 1 << 24;
    huge.geometry.a_repeats = huge.geometry.b_repeats = 4096;
    EXPECT_EQ(block_size({}, huge, 1e9), 1);
    EXPECT_EQ(pool_size({}, huge, 1), 4);
}

TEST(PoolSize, HoldsFourVolumesInHalfOfFreeMemory) {
    const FreeMemory plenty("100000");
    EXPECT_EQ(pool_size({}, scan_of(500), 34), 4 * (15 + 1));
    EXPECT_EQ(pool_size({}, scan_of(3), 1), 16) << "small volumes: a few more";
    const FreeMemory little("1000");
    EXPECT_EQ(pool_size({}, scan_of(500), 34), 32) << "524288000 / (34 * 480000)";
    const FreeMemory none("1");
    EXPECT_EQ(pool_size({}, scan_of(500), 34), 4);
}

TEST(PoolSize, MatchesPlugins) {
    const FreeMemory plenty("100000");
    const echolux_stream stream = wanted_stream(scan_of(500), {.line_rate_hz = 144'000});
    EXPECT_EQ(stream.block_b_scans, 10);
    EXPECT_EQ(stream.blocks, 4 * (50 + 1));
    EXPECT_EQ(wanted_stream(scan_of(5000), {.block_b_scans = 1}).blocks, 4096) << "the most that a plugin may say";
}

}  // namespace
}  // namespace echolux
