// Sums over depth at lags, compared with plain sums in double precision.
#include "compute/cpu/repeat_alignment.h"
#include "compute/indexing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace echolux::cpu {
namespace {

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

}  // namespace
}  // namespace echolux::cpu
