// Interpolation of eight or sixteen points at a time gives the same bits as of four, and all agree with the table.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compute/cpu/four_taps.h"
#include "compute/indexing.h"

namespace echolux::cpu {
namespace {

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

}  // namespace
}  // namespace echolux::cpu
