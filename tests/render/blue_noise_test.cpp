// Properties of blue noise: each level occurs once, and low frequencies have little power.
#include "compute/indexing.h"
#include "render/shader_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

namespace echolux::test {
namespace {

constexpr int edge = 64;

// Mean power of the waves with `low` to `high` periods per edge, computed from the definition.
double power(const std::vector<float>& numbers, int low, int high) {
    double sum = 0;
    int waves = 0;
    for (int v = -high; v <= high; ++v) {
        for (int u = -high; u <= high; ++u) {
            const double periods = std::hypot(u, v);
            if (periods < low || periods > high) continue;
            std::complex<double> wave = 0;
            for (int y = 0; y < edge; ++y) {
                for (int x = 0; x < edge; ++x) {
                    const double phase = 2 * std::numbers::pi * (u * x + v * y) / edge;
                    wave += (double{numbers[index(y * edge + x)]} - 0.5) * std::polar(1.0, phase);
                }
            }
            sum += std::norm(wave);
            ++waves;
        }
    }
    return sum / waves;
}

TEST(BlueNoise, HasEachLevelOnce) {
    std::vector<float> numbers = blue_noise(edge);
    ASSERT_EQ(numbers.size(), index(edge * edge));
    std::ranges::sort(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        EXPECT_FLOAT_EQ(numbers[i], (static_cast<float>(i) + 0.5f) / (edge * edge));
    }
}

TEST(BlueNoise, HasLittleAtLowFrequencies) {
    const std::vector<float> blue = blue_noise(edge);
    std::vector<float> white = blue;
    std::shuffle(white.begin(), white.end(), std::mt19937(7));
    EXPECT_LT(power(blue, 1, 10), 0.03 * power(white, 1, 10));
    EXPECT_GT(power(blue, 24, 31), 1.2 * power(white, 24, 31));
}

TEST(BlueNoise, IsReproducible) {
    EXPECT_EQ(blue_noise(16), blue_noise(16));
}

}  // namespace
}  // namespace echolux::test
