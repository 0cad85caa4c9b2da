// Tests of FaultySource: its faults do what they say.
#include <gtest/gtest.h>

#include "faulty_source.h"

namespace echolux {
namespace {

using namespace test;
using namespace std::chrono_literals;

Scan small_scan() {
    Scan scan;
    scan.file.frame_offset_bytes = 32;
    scan.geometry = {
        .samples = 64, .a_scans = 3, .b_scans = 5, .b_repeats = 2, .line_rate_hz = 100, .flyback_frames = 1};
    return scan;
}

TEST(FaultySource, RegularBlocksMatchScan) {
    FaultySource source(small_scan(), 2, {send(4), end()});
    source.start();
    const std::int64_t stride = 32 + 3 * 64 * 2;
    const std::int64_t bytes[] = {4 * stride, 4 * stride, 3 * stride, 4 * stride};
    const double seconds[] = {0, 0.12, 0.24, 0.33};  // 11 frames of 3 lines per volume
    for (int i = 0; i < 4; ++i) {
        const Arrival arrival = source.next(0ms);
        ASSERT_EQ(arrival.kind, Arrival::Kind::block);
        EXPECT_EQ(arrival.block.sequence, static_cast<std::uint64_t>(i));
        EXPECT_EQ(arrival.block.volume, i / 3);
        EXPECT_EQ(arrival.block.first_b_scan, i % 3 * 2);
        EXPECT_EQ(arrival.block.bytes, bytes[i]);
        EXPECT_DOUBLE_EQ(arrival.block.time_s, seconds[i]);
        EXPECT_EQ(arrival.block.frames.stride_bytes, stride);
    }
    EXPECT_EQ(source.next(0ms).kind, Arrival::Kind::ended);
}

TEST(FaultySource, SendsFaultsInOrder) {
    FaultySource source(small_scan(), 5,
                        {send(1), repeat(), exchange(), lose(3), send(1), jump(-5), send(1), cut_short(), oversize(),
                         misplace(), stall(2), disconnect(), send(1)});
    source.start();
    const std::uint64_t sequences[] = {0, 0, 2, 1, 6, 7, 8, 9, 10};
    std::vector<Block> blocks;
    for (const std::uint64_t sequence : sequences) {
        blocks.push_back(source.next(0ms).block);
        EXPECT_EQ(blocks.back().sequence, sequence);
    }
    EXPECT_EQ(blocks[4].lost_before, 3);
    EXPECT_LT(blocks[5].time_s, blocks[4].time_s);
    EXPECT_LT(blocks[6].bytes, blocks[5].bytes);
    EXPECT_GT(blocks[7].b_scans, 5);
    EXPECT_LT(blocks[8].first_b_scan, 0);
    EXPECT_EQ(source.next(0ms).kind, Arrival::Kind::nothing_yet);
    EXPECT_EQ(source.next(0ms).kind, Arrival::Kind::nothing_yet);
    EXPECT_THROW(source.next(0ms), Error);
    source.refuse_starts(1);
    EXPECT_THROW(source.start(), Error);
    source.start();
    EXPECT_EQ(source.next(0ms).block.sequence, 0U);
    EXPECT_EQ(source.starts(), 2);
}

}  // namespace
}  // namespace echolux
