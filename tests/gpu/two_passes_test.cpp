// The division of lengths beyond 8192 points into two passes, tested on the host without a GPU.
#include "compute/cuda/two_passes.h"
#include "compute/indexing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

namespace echolux::cuda {
namespace {

using Complex = std::complex<double>;
constexpr std::int64_t of_data_centres = 227 * 1024, of_the_smallest = 64 * 1024;  // shared memory in bytes

Complex turned(double turn) {
    return std::polar(1.0, -2 * std::numbers::pi * turn);
}

bool is_product_of_small_numbers(std::int64_t n) {
    for (const int prime : {2, 3, 5, 7, 11, 13}) {
        while (n % prime == 0) n /= prime;
    }
    return n == 1;
}

TEST(TwoPasses, DividesLengthsByRoomOfBlocks) {
    for (std::int64_t n = 1; n <= 70000; ++n) {
        const auto length = two_pass_length(n, of_data_centres);
        if (n <= 8192 || n > 65536 || !is_product_of_small_numbers(n)) {
            ASSERT_FALSE(length) << n;
            continue;
        }
        if (!length) continue;
        ASSERT_EQ(length->n(), n);
        for (const MixedRadix& pass : {length->first, length->second}) {
            ASSERT_GE(pass.stages, 2) << n;
            ASSERT_LE(TwoPassLength::shared_bytes(pass) + length->code_bytes(), of_data_centres / 3) << n;
        }
    }
}

TEST(TwoPasses, SupportUsualLengths) {
    for (const std::int64_t n : {8320, 9600, 10000, 10240, 12288, 16384, 20000, 20480, 24576, 32768, 40000, 40960,
                                 49152, 50000, 60000, 65536}) {
        EXPECT_TRUE(two_pass_length(n, of_data_centres)) << n;
    }
    EXPECT_TRUE(two_pass_length(16384, of_the_smallest));
    EXPECT_FALSE(two_pass_length(65536, of_the_smallest));
}

// Allows codes to be stored sixteen at a time.
TEST(TwoPasses, BinsOfSixteenTransformsAreAdjacent) {
    for (const std::int64_t n : {9600, 10000, 16384, 20000, 32768, 65536}) {
        const auto length = two_pass_length(n, of_data_centres);
        ASSERT_TRUE(length) << n;
        EXPECT_EQ(length->first.n % TwoPassLength::columns, 0) << n;
    }
}

// Passes are computed by definition; some bins are compared with the definition of the whole transform.
TEST(TwoPasses, MakeDiscreteFourierTransform) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> value(-1, 1);
    for (const int n : {8505, 10000, 16384}) {
        const TwoPassLength length = two_pass_length(n, of_data_centres).value();
        const int a = length.first.n, b = length.second.n;
        const std::vector<float2> between = two_pass_twiddles(length);
        std::vector<Complex> line;
        for (int j = 0; j < n; ++j) line.emplace_back(value(random), value(random));
        for (const int bin : {0, 1, a - 1, a, n / 3, n / 2 - 1}) {
            const int k = bin % a, q = bin / a;
            Complex found, wanted;
            for (int c = 0; c < b; ++c) {
                Complex sum;
                for (int m = 0; m < a; ++m) {
                    sum += line[index(m * b + c)] * turned(static_cast<double>(m * k % a) / a);
                }
                const float2 factor = between[index(k * b + c)];
                found += sum * Complex(factor.x, factor.y) * turned(static_cast<double>(c * q % b) / b);
            }
            for (int j = 0; j < n; ++j) {
                const auto turns = static_cast<double>(static_cast<std::int64_t>(j) * bin % n);
                wanted += line[index(j)] * turned(turns / n);
            }
            EXPECT_LT(std::abs(found - wanted), 1e-4) << n << ", " << bin;
        }
    }
}

}  // namespace
}  // namespace echolux::cuda
