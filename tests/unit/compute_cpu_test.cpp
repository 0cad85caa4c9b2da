// Parts of the CPU backend: vector registers, sums over depth at lags, parallel primitives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "compute/cpu/executor.h"
#include "compute/cpu/four_taps.h"
#include "compute/cpu/repeat_alignment.h"
#include "compute/indexing.h"

namespace echolux::cpu {
namespace {

// ---- interpolation with four taps ----------------------------------------------------------------------------------

constexpr std::int64_t samples = 1000;

// Points distributed over the samples, `step` apart on average, with random weights.
ResampleTable table_of(std::int64_t points, double step, std::mt19937& random) {
    std::uniform_real_distribution<float> weight(-1, 1);
    ResampleTable table;
    table.taps = 4;
    for (std::int64_t j = 0; j < points; ++j) {
        const double position = static_cast<double>(j) * step + std::sin(static_cast<double>(j) / 50);
        table.base.push_back(static_cast<std::int32_t>(std::clamp(position, 0.0, samples - 4.0)));
        for (int tap = 0; tap < 4; ++tap) table.weights.push_back(weight(random));
    }
    return table;
}

std::vector<float> spectrum(std::mt19937& random) {
    std::normal_distribution<float> sample(0, 1000);
    std::vector<float> values(samples + FourTaps::window);
    for (float& value : values) value = sample(random);
    return values;
}

class FourTapsRuns : public testing::TestWithParam<std::int64_t> {
  protected:
    void SetUp() override {
        if (FourTaps::widest_run() < GetParam()) GTEST_SKIP() << "this machine has no registers of so many floats";
    }
};

TEST_P(FourTapsRuns, GiveSameBits) {
    std::mt19937 random(1);
    const std::vector<float> line = spectrum(random);
    for (const std::int64_t points : {3, 600, 1000, 1023, 1900}) {
        const ResampleTable table =
            table_of(points, static_cast<double>(samples) / static_cast<double>(points), random);
        const FourTaps narrow(table, 4), wide(table, GetParam());
        ASSERT_EQ(wide.run(), GetParam());
        std::vector<float> by_four(table.base.size(), -1.0f), by_run(table.base.size(), -2.0f);
        narrow(line.data(), by_four.data());
        wide(line.data(), by_run.data());
        ASSERT_EQ(by_four, by_run) << points;
    }
}

INSTANTIATE_TEST_SUITE_P(Registers, FourTapsRuns, testing::Values(8, 16));

// A k grid much coarser than the samples.
TEST(FourTaps, DoNotCombineDistantPoints) {
    std::mt19937 random(3);
    const ResampleTable table = table_of(100, 9.5, random);
    EXPECT_LT(FourTaps(table).run(), 16);
}

TEST(FourTaps, MatchSumsOfTable) {
    std::mt19937 random(2);
    const std::vector<float> line = spectrum(random);
    const ResampleTable table = table_of(777, 1.2, random);
    std::vector<float> points(table.base.size());
    FourTaps{table}(line.data(), points.data());
    for (std::size_t j = 0; j < points.size(); ++j) {
        double expected = 0, size = 0;
        for (std::size_t tap = 0; tap < 4; ++tap) {
            const double part =
                static_cast<double>(table.weights[4 * j + tap]) * static_cast<double>(line[index(table.base[j]) + tap]);
            expected += part;
            size += std::abs(part);
        }
        ASSERT_NEAR(static_cast<double>(points[j]), expected, 3e-7 * size) << j;
    }
}

// ---- sums over depth at lags, compared with plain sums in double ---------------------------------------------------

constexpr std::int64_t max_lag = 11;

PaddedLines noise_of(std::int64_t depth, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    PaddedLines lines(4, depth, max_lag);
    for (std::int64_t i = 0; i < 4; ++i) {
        for (std::int64_t z = 0; z < depth; ++z) lines.line(i)[z] = normal(random);
    }
    return lines;
}

class PaddedSums : public testing::TestWithParam<std::int64_t> {};

TEST_P(PaddedSums, PadWithZeros) {
    const std::int64_t depth = GetParam();
    const PaddedLines a = noise_of(depth, 1), b = noise_of(depth, 2);
    std::vector<const float*> others;
    for (std::int64_t lag = -max_lag; lag <= max_lag; ++lag) others.push_back(b.complex_line(1) + lag);
    std::vector<Phasor> differences(others.size());
    std::vector<float> products(others.size());
    sum_differences(a.complex_line(1), others, a.stride(), depth, differences.data());
    sum_products(a.complex_line(1), others, depth, products.data());
    for (std::int64_t lag = -max_lag; lag <= max_lag; ++lag) {
        double re = 0, im = 0, product = 0;
        for (std::int64_t z = 0; z < depth; ++z) {
            if (z + lag < 0 || z + lag >= depth) continue;
            const auto [a_re, a_im] = a.at(1, z);
            const auto [b_re, b_im] = b.at(1, z + lag);
            re += static_cast<double>(a_re) * static_cast<double>(b_re) +
                  static_cast<double>(a_im) * static_cast<double>(b_im);
            im += static_cast<double>(a_re) * static_cast<double>(b_im) -
                  static_cast<double>(a_im) * static_cast<double>(b_re);
            product += static_cast<double>(a_re) * static_cast<double>(b_re);
        }
        const auto at = index(lag + max_lag);
        const double close = 1e-6 * static_cast<double>(depth);
        EXPECT_NEAR(static_cast<double>(differences[at].re), re, close) << lag;
        EXPECT_NEAR(static_cast<double>(differences[at].im), im, close) << lag;
        EXPECT_NEAR(static_cast<double>(products[at]), product, close) << lag;
    }
}

INSTANTIATE_TEST_SUITE_P(Depths, PaddedSums, testing::Values(16, 131, 512));

// ---- parallel primitives -------------------------------------------------------------------------------------------

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
