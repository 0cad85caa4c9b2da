// Parallel primitives on the CPU: each element is visited once, whatever the number of elements and maps.
#include "compute/cpu/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace echolux::cpu {
namespace {

constexpr std::int64_t counts[] = {0, 1, 255, 256, 257, 1000};  // around the elements of a task

TEST(CpuExecutor, VisitsEachElementOnce) {
    CpuExecutor on;
    for (const std::int64_t count : counts) {
        const HostArray<int> visits(count);
        on.for_each(
            count, [&](std::int64_t i) { ++visits.data()[i]; }, "visit");
        EXPECT_THAT(on.fetched(visits.data(), count), testing::Each(1)) << count;
    }
}

TEST(CpuExecutor, VisitsEachElementOfEachMapOnce) {
    CpuExecutor on;
    for (const std::int64_t count : counts) {
        constexpr std::int64_t maps = 3;
        const HostArray<int> visits(count * maps);
        on.for_each(
            count, maps, [&](std::int64_t i, std::int64_t map) { ++visits.data()[map * count + i]; }, "visit");
        EXPECT_THAT(on.fetched(visits.data(), count * maps), testing::Each(1)) << count;
    }
}

TEST(CpuExecutor, SumsAllElements) {
    CpuExecutor on;
    for (const std::int64_t count : counts)
        EXPECT_EQ(on.sum_of(
                      count, [](std::int64_t i) { return static_cast<int>(i); }, "add"),
                  count * (count - 1) / 2);
}

TEST(CpuExecutor, ArraysHoldValuesOfHost) {
    CpuExecutor on;
    std::vector<int> values(300);
    std::iota(values.begin(), values.end(), 5);
    const HostArray<int> array{std::span<const int>(values)};
    EXPECT_EQ(array.count(), 300);
    EXPECT_EQ(on.fetched(array.data() + 10, 2), (std::vector<int>{15, 16}));
    on.write(std::vector<int>{1, 2}, array.data() + 10);
    EXPECT_EQ(on.fetched(array.data() + 9, 4), (std::vector<int>{14, 1, 2, 17}));
}

}  // namespace
}  // namespace echolux::cpu
