// Histograms counted on the device, compared with counts of the same voxels on the host.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "compute/indexing.h"
#include "render/histograms.h"
#include "rendering.h"
#include "tests/unit/await.h"

namespace echolux::test {
namespace {

class Histograms : public Rendering {
  protected:
    // Waits for the histogram of the current volume.
    static Histogram finished_histogram(Renderer& renderer, std::uint64_t after = 0) {
        for (int i = 0; i < 100000; ++i) {
            const auto histogram = renderer.histogram();
            if (histogram && histogram->serial > after) return *histogram;
        }
        ADD_FAILURE() << "nothing was counted";
        return {};
    }
};

std::uint64_t total(const Histogram& histogram) {
    return std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
}

TEST_F(Histograms, CodesHaveOneBinEach) {
    const VolumeGrid grid = db_grid(40, 30, 20, VoxelType::u8);
    std::vector<std::byte> codes(index(grid.voxels()));
    std::vector<std::uint32_t> expected(256);
    for (std::int64_t i = 0; i < std::ssize(codes); ++i) {
        const double skewed = noise(i, 1, 2) * noise(i, 3, 4);
        const auto code = static_cast<std::uint8_t>(255.99 * skewed);
        codes[index(i)] = static_cast<std::byte>(code);
        ++expected[code];
    }
    EXPECT_FALSE(renderer().histogram());
    renderer().set_volume(grid, codes.data());
    const Histogram histogram = finished_histogram(renderer());
    EXPECT_EQ(histogram.counts, expected);
    EXPECT_NEAR(histogram.low, grid.offset - 0.5 * grid.scale, 1e-9);
    EXPECT_NEAR(histogram.high, grid.offset + 255.5 * grid.scale, 1e-9);
    EXPECT_EQ(renderer().bytes_read_back(), 0);
    EXPECT_EQ(renderer().statistics_read_back(), 1024);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(renderer().histogram()->serial, histogram.serial);  // counted only once
    EXPECT_EQ(renderer().statistics_read_back(), 1024);
}

std::vector<float> values_of(const VolumeGrid& grid) {
    std::vector<float> values(index(grid.voxels()));
    for (std::int64_t i = 0; i < std::ssize(values); ++i) {
        values[index(i)] = static_cast<float>(300 * noise(i, 5, 6) * noise(i, 7, 8) - 40);
    }
    return values;
}

// Compares with counts on the host. Edges of bins are only accurate to the last bits of a float.
void expect_counts(const Histogram& histogram, const std::vector<float>& values) {
    ASSERT_EQ(histogram.counts.size(), 256U);
    std::vector<std::int64_t> expected(256);
    for (const float value : values) {
        if (std::isnan(value)) continue;
        const double bin = 256 * (static_cast<double>(value) - histogram.low) / (histogram.high - histogram.low);
        ++expected[static_cast<std::size_t>(std::clamp(std::floor(bin), 0.0, 255.0))];
    }
    std::int64_t elsewhere = 0;
    for (std::size_t i = 0; i < 256; ++i) elsewhere += std::abs(histogram.counts[i] - expected[i]);
    EXPECT_LE(elsewhere, 2);
}

// Compares the middle of the value range, because the end bins also count values outside it.
TEST_F(Histograms, EndBinsCountValuesOutsideRange) {
    const VolumeGrid grid = db_grid(32, 16, 16);
    const std::vector<float> values = values_of(grid);
    renderer().set_volume(grid, values.data());
    const Histogram histogram = finished_histogram(renderer());
    EXPECT_GT(histogram.low, *std::ranges::min_element(values));
    EXPECT_LT(histogram.high, *std::ranges::max_element(values));
    EXPECT_EQ(total(histogram), values.size());
    expect_counts(histogram, values);
}

// Samples whole A-scans, the same number per column, so that changes from B-scan to B-scan and from A-scan to A-scan
// are sampled evenly.
TEST_F(Histograms, LargeVolumesAreSampledEvenly) {
    const VolumeGrid grid = db_grid(128, 100, 96, VoxelType::u8);
    const auto codes = voxels(grid, [&](auto, auto a, auto b) { return static_cast<double>(a + b) / 4 - 4; });
    renderer().set_volume(grid, codes.data());
    const Histogram histogram = finished_histogram(renderer());
    const std::int64_t stride = counted_stride(grid.voxels(), grid.a_scans, true);
    EXPECT_GT(stride, 1);
    EXPECT_EQ(total(histogram), static_cast<std::uint64_t>((9600 + stride - 1) / stride * 128));
    std::vector<double> of_all(256);
    for (const std::byte code : codes) ++of_all[std::to_integer<std::size_t>(code)];
    double below = 0, expected_below = 0;
    for (std::size_t i = 0; i < 256; ++i) {
        below += histogram.counts[i] / static_cast<double>(total(histogram));
        expected_below += of_all[i] / static_cast<double>(codes.size());
        EXPECT_NEAR(below, expected_below, 0.02) << "bin " << i;
    }
}

TEST(HistogramStrides, MeetAllColumns) {
    EXPECT_EQ(counted_stride(1000, 10, true), 1);
    EXPECT_EQ(counted_stride(1 << 22, 512, false), 1);
    EXPECT_EQ(counted_stride(512LL * 500 * 500, 500, false), 31);
    EXPECT_EQ(counted_stride((1LL << 22) * 4, 512, false), 5);
    EXPECT_EQ(counted_stride(0, 1, true), 1);
}

TEST_F(Histograms, PagedVolumesUseCoarseLevel) {
    VolumeLimits limits{.edge = 40, .pool_bytes = 4 << 20, .page_edge = 16};
    const auto paged = renderer_with(limits);
    const VolumeGrid grid = db_grid(64, 61, 50, VoxelType::u8);
    const auto codes = voxels(grid, [](auto z, auto, auto) { return z < 32 ? 10.0 : 30.0; });
    paged->set_volume(voxels_in_memory(grid, codes.data()));
    const Histogram histogram = finished_histogram(*paged);
    const auto code = [&](double value) { return index(std::lround((value - grid.offset) / grid.scale)); };
    const double all = static_cast<double>(total(histogram));
    EXPECT_NEAR(histogram.counts[code(10)] / all, 0.5, 1e-9);
    EXPECT_NEAR(histogram.counts[code(30)] / all, 0.5, 1e-9);
}

// Shows the newest complete volume of a ring, and counts each new one.
TEST_F(Histograms, FollowLiveRings) {
    const VolumeGrid grid = db_grid(16, 12, 10, VoxelType::u8);
    SlotRequest wanted{.grid = grid, .range = {0, 40}};
    SlotWriter& slots = *renderer().make_slots(wanted).writer;
    const std::size_t bytes = index(grid.bytes());
    std::uint64_t read = 0, serial = 0;
    const auto write = [&](std::size_t slot, std::uint64_t value, int code, std::int64_t filled) {
        std::memset(slots.targets(slot).structure.data, code, bytes);
        slots.publish(slot, value, 0, filled);
    };
    const auto count = [&](const DisplayedSlots& now) {
        for (int i = 0; i < 100000; ++i) {
            const auto histogram =
                with_next_signal(now, read, [&](const DisplayedSlots& shown) { return renderer().histogram(shown); });
            if (histogram && histogram->serial > serial) {
                serial = histogram->serial;
                return *histogram;
            }
        }
        ADD_FAILURE() << "nothing was counted";
        return Histogram{0, 0, std::vector<std::uint32_t>(256), 0};
    };
    const auto voxel_count = static_cast<std::uint32_t>(grid.voxels());
    write(0, 1, 77, grid.b_scans);
    const DisplayedSlot first{.slot = 0, .serial = 1, .filled_to = grid.b_scans};
    EXPECT_EQ(count({first, {}, 1, 0}).counts[77], voxel_count);
    write(1, 2, 200, 3);
    const DisplayedSlot second{.slot = 1, .serial = 2, .filled_to = 3};
    EXPECT_EQ(count({second, first, 2, 0}).counts[77], voxel_count);  // the previous one, which is complete
    write(2, 3, 5, 4);
    const DisplayedSlot third{.slot = 2, .serial = 3, .filled_to = 4};
    EXPECT_EQ(count({third, {}, 3, 0}).counts[5], voxel_count * 4 / 10);  // the part that has arrived
}

TEST_F(Histograms, IgnoreNonFiniteValues) {
    constexpr std::array strange{std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
                                 -std::numeric_limits<float>::infinity()};
    const VolumeGrid grid = db_grid(32, 16, 16);
    std::vector<float> values = values_of(grid);
    for (std::size_t i = 0; i < values.size(); i += 50) values[i] = strange[i / 50 % 3];
    SlotRequest wanted{.grid = grid, .range = {-20, 200}};
    SlotWriter& slots = *renderer().make_slots(wanted).writer;
    std::memcpy(slots.targets(0).structure.data, values.data(), values.size() * sizeof(float));
    slots.publish(0, 1, 0, grid.b_scans);
    const DisplayedSlot newest{.slot = 0, .serial = 1, .filled_to = grid.b_scans};
    std::optional<Histogram> histogram;
    for (TestTimeout timeout; !histogram && timeout.lasts();) {
        histogram = renderer().histogram(DisplayedSlots{newest, {}, 1, 1});
    }
    std::erase_if(values, [](float value) { return !std::isfinite(value); });
    EXPECT_EQ(total(*histogram), values.size());
    expect_counts(*histogram, values);
}

}  // namespace
}  // namespace echolux::test
