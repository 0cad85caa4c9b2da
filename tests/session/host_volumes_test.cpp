// Volumes that are delivered to host memory, and blocks that are pushed rather than acquired.
#include "engine/live/host_volumes.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/acquire/pushed_source.h"
#include "live_plan.h"
#include "noting_sink.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

using namespace std::chrono_literals;

const BackendChoice on_the_cpu{.backend = Backend::cpu};

Scan small_scan() {
    Scan scan = with(live_scan(), "background=none levels=fixed high=100");
    return scan;
}

class HostVolumesOf : public ::testing::Test {
  protected:
    Scan scan_ = small_scan();
    std::vector<HostVolume> made_;
    bool has_room_ = true;
    std::vector<std::uint16_t> spectra_ = [this] {
        std::vector<std::uint16_t> all;
        for (std::int64_t i = 0; i < 64 * 3 * 4; ++i) all.push_back(static_cast<std::uint16_t>(2000 + i * i % 97));
        return all;
    }();

    VolumeReceiver receiver() {
        return {[this] { return has_room_; }, [this](HostVolume volume) { made_.push_back(std::move(volume)); }};
    }

    Block block(std::int64_t volume, std::int64_t first, std::int64_t count) const {
        Block one{.data = reinterpret_cast<const std::byte*>(spectra_.data() + first * 64 * 3),
                  .bytes = count * 64 * 3 * 2,
                  .volume = volume,
                  .first_b_scan = first,
                  .b_scans = count};
        return one;
    }

    std::vector<std::byte> expected(const ReconstructionSpec& spec) const {
        const auto work = plan_on_cpu(spec);
        std::vector<std::byte> voxels(index(work->grid().bytes()));
        const std::int64_t line = work->grid().depth * 4;
        work->submit(block(0, 0, 4), VoxelTarget{TargetKind::host_linear, voxels.data(), 0, line, 3 * line});
        return voxels;
    }
};

TEST_F(HostVolumesOf, DeliversWholeVolumes) {
    HostVolumes sink(scan_.spec(4), on_the_cpu, receiver());
    EXPECT_TRUE(sink.feed(block(7, 0, 1)));
    EXPECT_TRUE(sink.feed(block(7, 1, 3)));
    ASSERT_EQ(made_.size(), 1u);
    EXPECT_EQ(made_[0].number, 7);
    EXPECT_EQ(made_[0].structure.voxels, expected(scan_.spec(4)));
    EXPECT_EQ(made_[0].structure.grid.b_scans, 4);
    EXPECT_EQ(sink.describe().substr(0, 3), "cpu");
}

TEST_F(HostVolumesOf, SkipsVolumesWithMissingBlocks) {
    HostVolumes sink(scan_.spec(4), on_the_cpu, receiver());
    EXPECT_TRUE(sink.feed(block(0, 0, 1)));
    EXPECT_FALSE(sink.feed(block(0, 2, 2)));
    EXPECT_FALSE(sink.feed(block(1, 1, 3))) << "its beginning never came";
    EXPECT_TRUE(sink.feed(block(2, 0, 4)));
    ASSERT_EQ(made_.size(), 1u);
    EXPECT_EQ(made_[0].number, 2);
}

TEST_F(HostVolumesOf, BeginsNoVolumeWithoutRoom) {
    HostVolumes sink(scan_.spec(4), on_the_cpu, receiver());
    has_room_ = false;
    EXPECT_FALSE(sink.feed(block(0, 0, 2)));
    has_room_ = true;
    EXPECT_FALSE(sink.feed(block(0, 2, 2)));
    EXPECT_TRUE(sink.feed(block(1, 0, 4)));
    EXPECT_EQ(made_.size(), 1u);
}

TEST_F(HostVolumesOf, DeliversFlowWithStructure) {
    set(scan_, "flow.method=speckle_variance a_repeats=2 a_scans=1 average=magnitude noise_floor_db=10");
    HostVolumes sink(scan_.spec(4), on_the_cpu, receiver());
    EXPECT_TRUE(sink.feed(block(0, 0, 4)));
    ASSERT_EQ(made_.size(), 1u);
    ASSERT_TRUE(made_[0].flow);
    EXPECT_EQ(made_[0].flow->voxels.size(), index(made_[0].flow->grid.bytes()));
}

TEST_F(HostVolumesOf, OpenNoiseFloorIsMeasured) {
    scan_.recipe.levels = Levels::noise_floor;
    HostVolumes sink(scan_.spec(4), on_the_cpu, receiver());
    EXPECT_EQ(sink.describe(), "");
    EXPECT_TRUE(sink.feed(block(0, 0, 4)));
    ASSERT_EQ(made_.size(), 1u);
    EXPECT_NE(made_[0].spec->recipe.noise_floor_db, 0);
    EXPECT_EQ(made_[0].structure.voxels, expected(*made_[0].spec));
}

TEST_F(HostVolumesOf, ChangesSettingsBetweenVolumesOnly) {
    HostVolumes sink(scan_.spec(4), on_the_cpu, receiver());
    EXPECT_TRUE(sink.feed(block(0, 0, 2)));
    scan_.recipe.window = Window::rect;
    sink.change(scan_.spec(4));
    AWAIT(sink.has_change_ready());
    EXPECT_FALSE(sink.take_change(BlockSink::SwapPoint::within_volume));
    EXPECT_TRUE(sink.feed(block(0, 2, 2)));
    EXPECT_TRUE(sink.take_change(BlockSink::SwapPoint::between_volumes));
    EXPECT_TRUE(sink.feed(block(1, 0, 4)));
    ASSERT_EQ(made_.size(), 2u);
    EXPECT_NE(made_[0].structure.voxels, made_[1].structure.voxels);
    EXPECT_EQ(made_[1].structure.voxels, expected(scan_.spec(4)));
}

TEST_F(HostVolumesOf, RejectsInvalidSettingsAtOnce) {
    scan_.recipe.depth_begin = 1000;
    EXPECT_THROW(HostVolumes(scan_.spec(4), on_the_cpu, receiver()), Error);
}

TEST_F(HostVolumesOf, KeepsPushedBlocksUnchanged) {
    PushedSource source(scan_, 2);
    source.start();
    ASSERT_TRUE(source.push(block(0, 0, 2), 0ms));
    ASSERT_TRUE(source.push(block(0, 2, 2), 0ms));
    EXPECT_FALSE(source.push(block(0, 0, 1), 1ms)) << "a volume waits already";
    for (std::int64_t i = 0; i < 2; ++i) {
        const Arrival arrival = source.next(0ms);
        ASSERT_EQ(arrival.kind, Arrival::Kind::block);
        const Block& one = arrival.block;
        EXPECT_EQ(one.first_b_scan, 2 * i);
        EXPECT_EQ(one.sequence, static_cast<std::uint64_t>(i));
        const auto* from = reinterpret_cast<const std::byte*>(spectra_.data() + 2 * i * 64 * 3);
        EXPECT_NE(one.data, from) << "a copy";
        EXPECT_TRUE(std::equal(one.data, one.data + one.bytes, from, from + 2 * 64 * 3 * 2));
    }
    EXPECT_EQ(source.next(0ms).kind, Arrival::Kind::nothing_yet);
    ASSERT_TRUE(source.push(block(0, 0, 2), 0ms));
    source.end();
    EXPECT_EQ(source.next(0ms).block.volume, 1);
    EXPECT_EQ(source.next(0ms).kind, Arrival::Kind::ended);
    EXPECT_THROW(source.push(block(0, 0, 2), 0ms), Error);
}

// The volume would have 800 TB.
TEST_F(HostVolumesOf, LimitsMemoryOfPushedBlocks) {
    scan_.geometry.b_scans = std::int64_t{1} << 41;
    PushedSource source(scan_, 0);
    source.start();
    for (const std::int64_t count : {1, 3, 4}) {
        ASSERT_TRUE(source.push(block(0, 0, count), 0ms));
        EXPECT_EQ(source.next(0ms).block.bytes, count * 64 * 3 * 2);
    }
}

TEST_F(HostVolumesOf, RestartedSourceCountsFromZero) {
    PushedSource source(scan_, 2);
    source.start();
    for (int volume = 0; volume < 2; ++volume) {
        ASSERT_TRUE(source.push(block(0, 0, 2), 0ms));
        EXPECT_EQ(source.next(0ms).block.volume, volume);
    }
    ASSERT_TRUE(source.push(block(0, 2, 2), 0ms));
    source.end();
    source.stop();
    EXPECT_EQ(source.next(0ms).kind, Arrival::Kind::nothing_yet) << "left out, as the end is";
    ASSERT_TRUE(source.push(block(0, 0, 2), 0ms));
    source.stop();  // already stopped
    source.start();
    const Block first = source.next(0ms).block;
    EXPECT_EQ(first.b_scans, 2);
    EXPECT_EQ(first.volume, 0);
    EXPECT_EQ(first.sequence, 0u);
    EXPECT_EQ(first.time_s, 0) << "it was there before";
    ASSERT_TRUE(source.push(block(0, 2, 2), 0ms));
    const Block second = source.next(0ms).block;
    EXPECT_EQ(second.volume, 0);
    EXPECT_EQ(second.sequence, 1u);
    EXPECT_GT(second.time_s, 0);
}

TEST_F(HostVolumesOf, CountsUnfinishedVolumeSeparately) {
    PushedSource source(scan_, 2);
    source.start();
    ASSERT_TRUE(source.push(block(0, 2, 2), 0ms));
    ASSERT_TRUE(source.push(block(0, 0, 2), 0ms));
    EXPECT_EQ(source.next(0ms).block.volume, 0);
    EXPECT_EQ(source.next(0ms).block.volume, 1);
}

TEST_F(HostVolumesOf, RejectsBlocksOfOtherScans) {
    PushedSource source(scan_, 2);
    EXPECT_THROW(source.push(block(0, 0, 3), 0ms), Error);
    Block cut = block(0, 0, 2);
    cut.bytes -= 1;
    EXPECT_THROW(source.push(cut, 0ms), Error);
    Block on_gpu = block(0, 0, 2);
    on_gpu.memory = MemoryKind::device;
    EXPECT_THROW(source.push(on_gpu, 0ms), Error);
    Block not_there_yet = block(0, 0, 2);
    not_there_yet.memory = MemoryKind::pinned;
    not_there_yet.order.kind = CallerOrder::Kind::stream;
    EXPECT_THROW(source.push(not_there_yet, 0ms), Error);
}

}  // namespace
}  // namespace echolux::test
