// Building blocks of the kernels' transforms, tested on the host without a GPU: stages of lengths that are products of
// small primes, butterflies and twiddle factors.
#include "compute/cuda/line_pairs.h"
#include "compute/cuda/transform.cuh"
#include "compute/cuda/transform.h"
#include "compute/cuda/two_passes.h"
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

// ---- two passes -----------------------------------------------------------------------------------------------------

constexpr std::int64_t of_data_centres = 227 * 1024, of_the_smallest = 64 * 1024;  // shared memory in bytes

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

// ---- lines that are read by whole words -----------------------------------------------------------------------------

class LineWordsOf : public testing::Test {
  protected:
    RawFormat format;
    ScanGeometry geometry{.samples = 2048};

    LineWords at(std::uintptr_t place = 0) const {
        return line_words(LineFormat(format, geometry), reinterpret_cast<const std::byte*>(place));
    }
};

TEST_F(LineWordsOf, FollowSampleFormat) {
    EXPECT_EQ(at(), LineWords::u16);
    format.sample_format = SampleFormat::packed12;
    EXPECT_EQ(at(), LineWords::packed12);
    for (const SampleFormat other : {SampleFormat::u8, SampleFormat::i16, SampleFormat::u32, SampleFormat::f32}) {
        format.sample_format = other;
        EXPECT_EQ(at(), LineWords::none);
    }
}

TEST_F(LineWordsOf, ConvertedSamplesHaveNone) {
    const auto without = [this](const auto& change) {
        const RawFormat plain = format;
        change(format);
        const LineWords words = at();
        format = plain;
        return words;
    };
    for (const SampleFormat sample : {SampleFormat::u16, SampleFormat::packed12}) {
        format.sample_format = sample;
        ASSERT_NE(at(), LineWords::none);
        EXPECT_EQ(without([](RawFormat& f) { f.byte_order = ByteOrder::big; }), LineWords::none);
        EXPECT_EQ(without([](RawFormat& f) { f.shift = 4; }), LineWords::none);
        EXPECT_EQ(without([](RawFormat& f) { f.bits = 10; }), LineWords::none);
        EXPECT_EQ(without([](RawFormat& f) { f.channels = 2; }), LineWords::none);
    }
}

TEST_F(LineWordsOf, NeedAlignedLinesOfWholeWords) {
    EXPECT_EQ(at(4), LineWords::u16);
    EXPECT_EQ(at(2), LineWords::none);
    format.line_bytes = 4098;
    EXPECT_EQ(at(), LineWords::none);
    format.line_bytes = 4100;
    EXPECT_EQ(at(), LineWords::u16);
    geometry.samples = 2047;
    EXPECT_EQ(at(), LineWords::none);
    format.sample_format = SampleFormat::packed12;
    geometry.samples = 2044;
    EXPECT_EQ(at(), LineWords::none);
    geometry.samples = 2040;
    EXPECT_EQ(at(), LineWords::packed12);
}

TEST_F(LineWordsOf, NeedAlignedLines) {
    const LineFormat lines(format, geometry);
    EXPECT_TRUE(lie_at(lines, reinterpret_cast<const std::byte*>(std::uintptr_t{6}), 2));
    EXPECT_FALSE(lie_at(lines, reinterpret_cast<const std::byte*>(std::uintptr_t{6}), 4));
    EXPECT_FALSE(lie_at(lines, reinterpret_cast<const std::byte*>(std::uintptr_t{7}), 2));
}

}  // namespace
}  // namespace echolux::cuda
