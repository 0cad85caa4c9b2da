// Sources paced by the clock: the times, contents, sizes and losses of blocks. The tests control the clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "await.h"
#include "compute/error.h"
#include "engine/acquire/paced_source.h"
#include "engine/acquire/stream.h"
#include "engine/simulate/instrument.h"
#include "hand_clock.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using namespace test;

constexpr auto long_enough = 30s;  // for events that are already due

// 2 B-scan positions, each twice with 3 lines and 2 of flyback, and one flyback frame: 25 lines of 0.01 s per volume.
Scan small_scan() {
    Scan scan;
    scan.path = "small";
    scan.file.frame_offset_bytes = frame_header_bytes;
    scan.geometry = {.samples = 8,
                     .a_scans = 3,
                     .b_scans = 2,
                     .volumes = 3,
                     .b_repeats = 2,
                     .line_rate_hz = 100,
                     .flyback_lines = 2,
                     .flyback_frames = 1};
    return scan;
}

constexpr std::int64_t frame_stride = 32 + 5 * 8 * 2;
constexpr Pacing one_b_scan{.line_rate_hz = 100, .block_b_scans = 1, .pool_blocks = 4};

std::byte filling(std::int64_t volume, std::int64_t first) {
    return static_cast<std::byte>(10 * volume + first + 1);
}

std::unique_ptr<StoredVolumes> stored(const Scan& scan, std::int64_t block_b_scans = 1) {
    return std::make_unique<StoredVolumes>(
        scan, block_b_scans, MemoryKind::host,
        [](std::int64_t volume, std::int64_t first, std::int64_t, std::span<std::byte> bytes) {
            std::ranges::fill(bytes, filling(volume, first));
        });
}

class PacedSourceTest : public ::testing::Test {
  protected:
    std::unique_ptr<PacedSource> source(const Pacing& pacing) {
        return std::make_unique<PacedSource>("small", small_scan(), SourceCapabilities{}, pacing, stored(small_scan()),
                                             clock_);
    }

    // Advances in small steps, so that nothing is late.
    void turn_to(double time_s) {
        for (double now_s = clock_->now_s(); now_s < time_s; now_s += 0.05) ASSERT_TRUE(clock_->turn_to(now_s));
        ASSERT_TRUE(clock_->turn_to(time_s));
    }

    std::shared_ptr<HandClock> clock_ = std::make_shared<HandClock>();
};

std::uint32_t slow_crc(std::span<const std::byte> bytes, std::uint32_t crc) {
    crc = ~crc;
    for (const std::byte byte : bytes) {
        crc ^= std::to_integer<std::uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xedb88320U : crc >> 1;
    }
    return ~crc;
}

void expect_stamped(const Block& block, std::uint64_t first_frame, std::byte content) {
    for (std::int64_t frame = 0; frame < block.bytes / frame_stride; ++frame) {
        const std::byte* header = block.data + frame * frame_stride;
        std::uint64_t sequence = 0;
        double time_s = 0;
        std::uint32_t crc = 0;
        std::memcpy(&sequence, header + 8, 8);
        std::memcpy(&time_s, header + 16, 8);
        std::memcpy(&crc, header + 28, 4);
        const std::span lines(header + 32, 80);
        EXPECT_EQ(sequence, first_frame + static_cast<std::uint64_t>(frame));
        EXPECT_DOUBLE_EQ(time_s, static_cast<double>(sequence) * 0.05);
        EXPECT_EQ(crc, slow_crc(lines, slow_crc({header, 28}, 0)));
        EXPECT_TRUE(std::ranges::all_of(lines, [&](std::byte byte) { return byte == content; }));
    }
}

TEST_F(PacedSourceTest, SendsBlockAfterItsLastLine) {
    const auto source = this->source(one_b_scan);
    source->start();
    ASSERT_TRUE(clock_->turn_to(0.0999));  // two frames of 5 lines
    EXPECT_EQ(source->next(0ms).kind, Arrival::Kind::nothing_yet);
    ASSERT_TRUE(clock_->turn_to(0.1001));
    const Arrival first = source->next(0ms);
    ASSERT_EQ(first.kind, Arrival::Kind::block);
    EXPECT_EQ(first.block.time_s, 0);
    EXPECT_EQ(first.block.bytes, 2 * frame_stride);
    EXPECT_EQ(first.block.frames.offset_bytes, 32);
    EXPECT_EQ(first.block.frames.stride_bytes, frame_stride);
    expect_stamped(first.block, 0, filling(0, 0));
    ASSERT_TRUE(clock_->turn_to(0.2001));
    const Arrival second = source->next(0ms);
    ASSERT_EQ(second.kind, Arrival::Kind::block);
    EXPECT_DOUBLE_EQ(second.block.time_s, 0.1);
    EXPECT_EQ(second.block.bytes, 3 * frame_stride);  // includes the flyback frame
    expect_stamped(second.block, 2, filling(0, 1));
    ASSERT_TRUE(clock_->turn_to(0.3499));  // the next volume begins at 0.25
    EXPECT_EQ(source->next(0ms).kind, Arrival::Kind::nothing_yet);
}

TEST_F(PacedSourceTest, RepeatsVolumesWithRunningNumbersAndNewTimestamps) {
    const auto source = this->source(one_b_scan);
    source->start();
    for (std::int64_t number = 0; number < 40; ++number) {
        const std::int64_t volume = number / 2;
        const double due_s = static_cast<double>(volume) * 0.25 + static_cast<double>(number % 2 + 1) * 0.1;
        ASSERT_TRUE(clock_->turn_to(due_s + 0.001));
        const Arrival arrival = source->next(long_enough);
        ASSERT_EQ(arrival.kind, Arrival::Kind::block);
        EXPECT_EQ(arrival.block.sequence, static_cast<std::uint64_t>(number));
        EXPECT_EQ(arrival.block.volume, volume);
        EXPECT_EQ(arrival.block.first_b_scan, number % 2);
        EXPECT_EQ(arrival.block.lost_before, 0);
        expect_stamped(arrival.block, static_cast<std::uint64_t>(volume * 5 + number % 2 * 2),
                       filling(volume % 3, number % 2));
    }
}

TEST_F(PacedSourceTest, CountsBlocksLostWithoutMemory) {
    const auto source = this->source(one_b_scan);
    source->start();
    turn_to(1.101);  // 4 volumes and one block: 9 blocks are due, 4 had memory
    std::vector<Block> held;
    for (int i = 0; i < 4; ++i) held.push_back(source->next(0ms).block);
    EXPECT_EQ(held.back().sequence, 3U);
    EXPECT_EQ(source->next(0ms).kind, Arrival::Kind::nothing_yet);
    held.clear();
    turn_to(1.351);  // block 9 began at 1.1 s, when all memory was in use
    const Arrival next = source->next(0ms);
    ASSERT_EQ(next.kind, Arrival::Kind::block);
    EXPECT_EQ(next.block.sequence, 10U);
    EXPECT_EQ(next.block.lost_before, 6);
    expect_stamped(next.block, 25, filling(2, 0));  // frames were counted on
}

TEST_F(PacedSourceTest, HeldBlockIsNeverOverwritten) {
    const auto source = this->source({.line_rate_hz = 100, .block_b_scans = 1, .pool_blocks = 1000});
    source->start();
    ASSERT_TRUE(clock_->turn_to(0.101));
    const Block held = source->next(long_enough).block;
    const std::vector<std::byte> before(held.data, held.data + held.bytes);
    std::int64_t lost = 0;
    for (double now_s = 0.15; now_s < 5; now_s += 0.05) {
        ASSERT_TRUE(clock_->turn_to(now_s));
        const Arrival arrival = source->next(0ms);
        if (arrival.kind != Arrival::Kind::block) continue;
        EXPECT_NE(arrival.block.data, held.data);
        lost += arrival.block.lost_before;
    }
    EXPECT_EQ(lost, 3);  // its memory is due every sixth volume of 0.25 s
    EXPECT_TRUE(std::equal(before.begin(), before.end(), held.data));
}

TEST_F(PacedSourceTest, DropsBlocksOfLongPause) {
    const auto source = this->source({.line_rate_hz = 100, .block_b_scans = 1, .pool_blocks = 1000});
    source->start();
    ASSERT_TRUE(clock_->turn_to(0));
    ASSERT_TRUE(clock_->turn_to(100.001));  // as if the machine had been suspended
    std::int64_t lost = 0;
    std::int64_t blocks = 0;
    std::uint64_t sequence = 0;
    for (Arrival arrival = source->next(0ms); arrival.kind == Arrival::Kind::block; arrival = source->next(0ms)) {
        ++blocks;
        lost += arrival.block.lost_before;
        sequence = arrival.block.sequence;
    }
    EXPECT_EQ(blocks, 8);  // the one in progress, and those of the last second
    EXPECT_EQ(sequence, 799U);
    EXPECT_EQ(lost, 792);
}

TEST_F(PacedSourceTest, EndsAfterItsVolumesWithLastLosses) {
    const auto source = this->source({.line_rate_hz = 100, .block_b_scans = 1, .pool_blocks = 2, .volumes = 2});
    source->start();
    turn_to(0.201);
    const std::vector<Block> held{source->next(0ms).block, source->next(0ms).block};
    clock_->set(10);
    const Arrival end = source->next(long_enough);
    EXPECT_EQ(end.kind, Arrival::Kind::ended);
    EXPECT_EQ(end.block.lost_before, 2);
    EXPECT_EQ(source->next(0ms).kind, Arrival::Kind::ended);
}

TEST_F(PacedSourceTest, RestartsFromZeroAndBlocksOutliveSource) {
    auto source = this->source(one_b_scan);
    Block kept;
    for (int i = 0; i < 20; ++i) {
        const double begin_s = clock_->now_s();
        source->start();
        ASSERT_TRUE(clock_->turn_to(begin_s + 0.101));
        const Arrival arrival = source->next(long_enough);
        ASSERT_EQ(arrival.kind, Arrival::Kind::block);
        EXPECT_EQ(arrival.block.sequence, 0U);
        EXPECT_EQ(arrival.block.volume, 0);
        EXPECT_EQ(arrival.block.time_s, 0);
        expect_stamped(arrival.block, 0, filling(i % 3, 0));  // a volume that is not held
        kept = arrival.block;
        source->stop();
        EXPECT_EQ(source->next(0ms).kind, Arrival::Kind::ended);
    }
    source.reset();
    expect_stamped(kept, 0, filling(19 % 3, 0));
}

class BreaksAfterOne : public BlockFeed {
  public:
    std::optional<BlockMemory> fill(const BlockContent& content) override {
        if (content.first_b_scan == 1) throw Error(ErrorCode::bad_file, "ends early", "scan.raw");
        return block_memory(2 * frame_stride, MemoryKind::host);
    }
};

TEST_F(PacedSourceTest, ThrowsErrorsOfFeedAfterEarlierBlocks) {
    PacedSource source("breaks", small_scan(), {}, one_b_scan, std::make_unique<BreaksAfterOne>(), clock_);
    for (int i = 0; i < 2; ++i) {
        source.start();
        clock_->set(clock_->now_s() + 0.2);
        EXPECT_EQ(source.next(long_enough).kind, Arrival::Kind::block);
        EXPECT_THROW(source.next(long_enough), Error);
    }
}

TEST(StoredVolumes, NeedRoomForHeader) {
    Scan scan = small_scan();
    scan.file.frame_offset_bytes = 16;
    EXPECT_THROW(stored(scan), Error);
}

// Each B-scan position has 2 repeats of 100 lines plus 20 flyback lines, with 1000 samples of 2 bytes: 480 000 bytes.
Scan scan_of(std::int64_t b_scans) {
    Scan scan = with(Scan{}, "samples=1000 a_scans=100 b_repeats=2 flyback_lines=20");
    scan.geometry.b_scans = b_scans;
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

Scan scan_of_three_volumes() {
    Simulation simulation = with(Simulation{}, "samples=128 a_scans=4 b_scans=3 volumes=3");
    Scan scan = Instrument(simulation).scan();
    scan.path = "simulator";
    return scan;
}

// Returns the byte that fills the blocks of that volume.
std::optional<int> sent(StoredVolumes& volumes, std::int64_t volume) {
    BlockContent content{.volume = volume, .b_scans = 1, .frame_lines = 4, .line_rate_hz = 1000};
    const std::optional<BlockMemory> block = volumes.fill(content);
    if (!block) return std::nullopt;
    return static_cast<int>(block->data[block->bytes - 1]);
}

TEST(StoredVolumes, SendFirstVolumeUntilOthersAreReady) {
    std::atomic<bool> may_go_on = false;
    const auto load = [&may_go_on](std::int64_t volume, std::int64_t, std::int64_t, std::span<std::byte> block) {
        AWAIT(volume == 0 || may_go_on);
        std::ranges::fill(block, static_cast<std::byte>(10 + volume));
    };
    StoredVolumes volumes(scan_of_three_volumes(), 1, MemoryKind::host, load, true);
    for (std::int64_t volume = 0; volume < 9; ++volume) EXPECT_EQ(sent(volumes, volume), 10);
    may_go_on = true;
    std::set<int> seen;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (std::int64_t volume = 0; seen.size() < 3 && std::chrono::steady_clock::now() < end; ++volume) {
        const std::optional<int> value = sent(volumes, volume);
        ASSERT_TRUE(value.has_value()) << "a block is lost while others are put in its place";
        seen.insert(*value);
    }
    EXPECT_EQ(seen, (std::set<int>{10, 11, 12}));
}

TEST(StoredVolumes, StopWhileOthersAreLoaded) {
    std::atomic<bool> has_begun = false, ends = false;
    const auto load = [&](std::int64_t volume, std::int64_t, std::int64_t, std::span<std::byte>) {
        if (volume == 0) return;
        has_begun = true;
        AWAIT(ends.load());
    };
    const StoredVolumes volumes(scan_of_three_volumes(), 1, MemoryKind::host, load, true);
    AWAIT(has_begun.load());
    ends = true;  // the destructor follows
}

}  // namespace
}  // namespace echolux
