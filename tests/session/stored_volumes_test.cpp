// Volumes that are sent repeatedly: for an early first picture, the first volume replaces the others until they are
// made, and no block is lost.
#include "engine/acquire/paced_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "await.h"
#include "engine/simulate/instrument.h"

namespace echolux {
namespace {

Scan scan_of_three_volumes() {
    Simulation simulation;
    simulation.samples = 128;
    simulation.a_scans = 4;
    simulation.b_scans = 3;
    simulation.volumes = 3;
    Scan scan = Instrument(simulation).scan();
    scan.path = "simulator";
    return scan;
}

// Returns the byte that fills the blocks of that volume.
std::optional<int> sent(StoredVolumes& volumes, std::int64_t volume) {
    BlockContent content;
    content.volume = volume;
    content.b_scans = 1;
    content.frame_lines = 4;
    content.line_rate_hz = 1000;
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
