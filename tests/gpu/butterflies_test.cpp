// Building blocks of the fused kernel's transform, tested on the host without a GPU.
#include "compute/cuda/transform.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "compute/cuda/transform.h"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

std::complex<double> turned(double turn) {
    return std::polar(1.0, -2 * std::numbers::pi * turn);
}

template <int n>
double worst_error() {
    std::mt19937 random(n);
    std::uniform_real_distribution<float> value(-1, 1);
    float2 v[n], given[n];
    for (int i = 0; i < n; ++i) given[i] = v[i] = {value(random), value(random)};
    transform(v);
    double worst = 0;
    for (int k = 0; k < n; ++k) {
        std::complex<double> wanted;
        for (int i = 0; i < n; ++i) {
            wanted += std::complex<double>(given[i].x, given[i].y) * turned(static_cast<double>(i * k) / n);
        }
        worst = std::max(worst, std::abs(std::complex<double>(v[k].x, v[k].y) - wanted));
    }
    return worst;
}

TEST(Butterflies, AreDiscreteFourierTransforms) {
    EXPECT_LT(worst_error<2>(), 1e-6);
    EXPECT_LT(worst_error<3>(), 1e-6);
    EXPECT_LT(worst_error<4>(), 1e-6);
    EXPECT_LT(worst_error<5>(), 1e-6);
    EXPECT_LT(worst_error<6>(), 1e-6);
    EXPECT_LT(worst_error<7>(), 2e-6);
    EXPECT_LT(worst_error<8>(), 2e-6);
    EXPECT_LT(worst_error<9>(), 2e-6);
    EXPECT_LT(worst_error<10>(), 2e-6);
    EXPECT_LT(worst_error<11>(), 2e-6);
    EXPECT_LT(worst_error<12>(), 2e-6);
    EXPECT_LT(worst_error<13>(), 2e-6);
    EXPECT_LT(worst_error<15>(), 3e-6);
    EXPECT_LT(worst_error<16>(), 3e-6);
    EXPECT_LT(worst_error<20>(), 3e-6);
}

class Twiddles : public testing::TestWithParam<int> {};

TEST_P(Twiddles, ArePowersInOrderOfKernel) {
    const int radix = GetParam();
    constexpr int length = 256;
    constexpr int powers[] = {1, 2, 3, 4, 8, 12, 16};
    std::vector<float2> table;
    append_twiddles(table, radix, length);
    ASSERT_EQ(std::ssize(table), twiddle_rows(radix) * length);
    for (int row = 0; row < twiddle_rows(radix); ++row) {
        for (int k = 0; k < length; ++k) {
            const float2 found = table[index(row * length + k)];
            const auto wanted = turned(static_cast<double>(k * powers[row]) / (length * radix));
            EXPECT_NEAR(found.x, wanted.real(), 1e-7);
            EXPECT_NEAR(found.y, wanted.imag(), 1e-7);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Radices, Twiddles, testing::Values(2, 3, 5, 9, 12, 13, 15, 16, 20));

}  // namespace
}  // namespace echolux::cuda
