// Building blocks of the kernels' transforms, tested on the host without a GPU: stages of lengths that are products of
// small primes, butterflies and twiddle factors.
#include "compute/cuda/transform.cuh"
#include "compute/cuda/transform.h"
#include "compute/indexing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <set>
#include <vector>

namespace echolux::cuda {
namespace {

using Complex = std::complex<double>;

bool is_product_of_small_numbers(int n) {
    for (const int prime : {2, 3, 5, 7, 11, 13}) {
        while (n % prime == 0) n /= prime;
    }
    return n == 1;
}

Complex turned(double turn) {
    return std::polar(1.0, -2 * std::numbers::pi * turn);
}

// Follows the kernel in double; butterflies are computed by definition.
std::vector<Complex> transformed(const MixedRadix& length, const std::vector<Complex>& line) {
    std::vector<Complex> exchange(index(length.exchange_points)), bins(line.size());
    for (int s = 0; s < length.stages; ++s) {
        const MixedStage& stage = length.stage[s];
        for (int u = 0; u < stage.butterflies; ++u) {
            const int bin = s == 0 ? 0 : quotient(u, stage.turns[0].reciprocal), place = place_of(stage, s, u);
            std::vector<Complex> operands;
            for (int i = 0; i < stage.radix; ++i) {
                const auto from = index(s == 0 ? u + i * stage.butterflies : place + i * stage.stride);
                operands.push_back((s == 0 ? line : exchange).at(from) *
                                   turned(static_cast<double>(bin * i) / (stage.length * stage.radix)));
            }
            for (int k = 0; k < stage.radix; ++k) {
                Complex sum;
                for (int i = 0; i < stage.radix; ++i) {
                    sum += operands[index(i)] * turned(static_cast<double>(i * k) / stage.radix);
                }
                exchange.at(index(place + k * stage.stride)) = sum;
                if (s + 1 == length.stages) bins.at(index(u + k * stage.butterflies)) = sum;
            }
        }
    }
    return bins;
}

TEST(MixedRadix, IsDiscreteFourierTransform) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> value(-1, 1);
    for (const int n : {64, 77, 100, 338, 832, 1000, 1536, 1875, 2000, 3000, 4802}) {
        const std::optional<MixedRadix> length = mixed_radix_of(n);
        ASSERT_TRUE(length) << n;
        std::vector<Complex> line;
        for (int i = 0; i < n; ++i) line.emplace_back(value(random), value(random));
        const std::vector<Complex> bins = transformed(*length, line);
        double worst = 0;
        for (int k = 0; k < n; k += 1 + n / 50) {
            Complex wanted;
            for (int i = 0; i < n; ++i) {
                wanted += line[index(i)] * turned(static_cast<double>(i) * k / n);
            }
            worst = std::max(worst, std::abs(bins[index(k)] - wanted));
        }
        EXPECT_LT(worst, 1e-9) << n;
    }
}

TEST(MixedRadix, ExistsForEveryProductOfSmallNumbers) {
    for (int n = 1; n <= 10000; ++n) {
        const std::optional<MixedRadix> length = mixed_radix_of(n);
        ASSERT_EQ(length.has_value(), n >= 64 && n <= 8192 && is_product_of_small_numbers(n)) << n;
        if (!length) continue;
        int product = 1;
        for (int s = 0; s < length->stages; ++s) product *= length->stage[s].radix;
        EXPECT_EQ(product, n);
        EXPECT_LE(length->exchange_points, n + 8 * length->stage[0].radix) << n;
    }
}

// Butterflies of a stage run in any order, so no two may share a place.
TEST(MixedRadix, ButterfliesOfStageHaveSeparatePlaces) {
    for (int n = 64; n <= 8192; ++n) {
        const std::optional<MixedRadix> length = mixed_radix_of(n);
        if (!length) continue;
        for (int s = 0; s < length->stages; ++s) {
            const MixedStage& stage = length->stage[s];
            std::vector<bool> taken(index(length->exchange_points));
            for (int u = 0; u < stage.butterflies; ++u) {
                for (int i = 0; i < stage.radix; ++i) {
                    const auto place = index(place_of(stage, s, u) + i * stage.stride);
                    ASSERT_LT(place, taken.size()) << n;
                    ASSERT_FALSE(taken[place]) << n;
                    taken[place] = true;
                }
            }
        }
    }
}

// ---- Butterflies and twiddle factors of the fused kernel ----

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
