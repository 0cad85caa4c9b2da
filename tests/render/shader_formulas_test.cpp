// Formulas and tables of the shaders in C++: random numbers, scattering and surfaces of path tracing, blue noise, and
// shaders with constants inserted.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <glm/gtc/constants.hpp>
#include <numbers>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "render/shader_tables.h"
#include "render/vk/pipeline.h"
#include "shaders/shared/phase.h"
#include "shaders/shared/philox.h"
#include "shaders/shared/raycast.h"
#include "shaders/spirv.h"

namespace echolux::test {
namespace {

TEST(Philox, MatchesKnownVectors) {
    EXPECT_EQ(shared::philox(glm::uvec4(0), glm::uvec2(0)), glm::uvec4(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
}

TEST(Philox, ExcludesZeroAndOne) {
    EXPECT_GT(shared::uniform_numbers(glm::uvec4(0)).x, 0);
    EXPECT_LT(shared::uniform_numbers(glm::uvec4(~0U)).x, 1);
}

TEST(Phase, HasItsMeanCosineAndIntegratesToOne) {
    constexpr int draws = 1'000'000;
    for (const float g : {-0.9F, -0.5F, -2e-4F, 0.0F, 5e-4F, 0.3F, 0.8F, 0.95F}) {
        double sum = 0, squares = 0, integral = 0;
        for (int i = 0; i < draws; ++i) {
            const glm::vec4 u = shared::uniform_numbers(shared::philox(glm::uvec4(i, 0, 0, 0), glm::uvec2(7, 0)));
            const double cosine = shared::phase_cosine(u.x, g);
            sum += cosine;
            squares += cosine * cosine;
            integral += 4 * std::numbers::pi / draws *
                        shared::phase(2 * (static_cast<float>(i) + 0.5F) / draws - 1, g);  // integral over the cosine
        }
        const double mean = sum / draws;
        const double sigma = std::sqrt((squares / draws - mean * mean) / draws);
        EXPECT_NEAR(mean, g, 4 * sigma) << g;
        EXPECT_NEAR(integral, 1, g < 0.9F ? 1e-5 : 1e-3) << g;
    }
}

glm::vec3 direction(float cosine, float turn) {
    const float sine = std::sqrt(1 - cosine * cosine);
    return {sine * std::cos(turn), sine * std::sin(turn), cosine};
}

TEST(Facets, IsReciprocal) {
    for (const float alpha : {.0025F, .25F, 1.0F}) {
        const glm::vec3 a = direction(.3F, 1), b = direction(.8F, 2.5F);
        const float forth = shared::ggx_reflected(a, b, alpha);
        EXPECT_NEAR(shared::ggx_reflected(b, a, alpha), forth, 1e-5 * forth) << alpha;
    }
}

// Light reflected by facets and scattered below them, integrated over all directions on a grid, must sum to 1.
TEST(Facets, ConserveEnergy) {
    constexpr int cosines = 2000, turns = 400;
    for (const double roughness : {.3, .5, 1.}) {
        const auto alpha = static_cast<float>(roughness * roughness);
        const SurfaceAlbedo albedo = surface_albedo(roughness);
        for (const float out_cosine : {.15F, .5F, .95F}) {
            const glm::vec3 out_to = direction(out_cosine, 0);
            double sum = 0;
            for (int i = 0; i < cosines * turns; ++i) {
                const float cosine = (static_cast<float>(i / turns) + .5F) / cosines;
                const glm::vec3 in_from =
                    direction(cosine, glm::two_pi<float>() * static_cast<float>(i % turns) / turns);
                const double below = (1 - albedo_at(albedo, out_cosine)) * (1 - albedo_at(albedo, cosine)) /
                                     (std::numbers::pi * (1 - albedo.mean));
                sum += cosine * (below + shared::ggx_reflected(out_to, in_from, alpha));
            }
            EXPECT_NEAR(sum * 2 * std::numbers::pi / (cosines * turns), 1, 2e-3) << roughness << ", " << out_cosine;
        }
    }
}

// ---- Blue noise: each level occurs once, and low frequencies have little power ----

constexpr int noise_edge = 64;

// Mean power of the waves with `low` to `high` periods per noise_edge, computed from the definition.
double power(const std::vector<float>& numbers, int low, int high) {
    double sum = 0;
    int waves = 0;
    for (int v = -high; v <= high; ++v) {
        for (int u = -high; u <= high; ++u) {
            const double periods = std::hypot(u, v);
            if (periods < low || periods > high) continue;
            std::complex<double> wave = 0;
            for (int y = 0; y < noise_edge; ++y) {
                for (int x = 0; x < noise_edge; ++x) {
                    const double phase = 2 * std::numbers::pi * (u * x + v * y) / noise_edge;
                    wave += (double{numbers[index(y * noise_edge + x)]} - 0.5) * std::polar(1.0, phase);
                }
            }
            sum += std::norm(wave);
            ++waves;
        }
    }
    return sum / waves;
}

TEST(BlueNoise, HasEachLevelOnce) {
    std::vector<float> numbers = blue_noise(noise_edge);
    ASSERT_EQ(numbers.size(), index(noise_edge * noise_edge));
    std::ranges::sort(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        EXPECT_FLOAT_EQ(numbers[i], (static_cast<float>(i) + 0.5f) / (noise_edge * noise_edge));
    }
}

TEST(BlueNoise, HasLittleAtLowFrequencies) {
    const std::vector<float> blue = blue_noise(noise_edge);
    std::vector<float> white = blue;
    std::shuffle(white.begin(), white.end(), std::mt19937(7));
    EXPECT_LT(power(blue, 1, 10), 0.03 * power(white, 1, 10));
    EXPECT_GT(power(blue, 24, 31), 1.2 * power(white, 24, 31));
}

TEST(BlueNoise, IsReproducible) {
    EXPECT_EQ(blue_noise(16), blue_noise(16));
}

// ---- Specialised shaders. All other tests of this folder check that pictures keep the same bits ----

std::array<std::int32_t, shared::constant_count> constants_of(int mode) {
    std::array<std::int32_t, shared::constant_count> constants{};
    constants[shared::constant_mode] = mode;
    constants[shared::constant_software] = 1;
    return constants;
}

TEST(Specialized, RemovesBranchesExcludedByConstants) {
    const auto composite = gpu::specialized(spirv::raycast_as_written, constants_of(shared::mode_composite));
    const auto maximum = gpu::specialized(spirv::raycast_as_written, constants_of(shared::mode_mip));
    EXPECT_LT(composite.size(), std::size(spirv::raycast_as_written) / 2);
    EXPECT_LT(maximum.size(), composite.size()) << "it is not lit";
    EXPECT_EQ(gpu::specialized(spirv::raycast_as_written, constants_of(shared::mode_composite)), composite);
}

TEST(Specialized, RejectsInvalidShaders) {
    constexpr std::array<std::uint32_t, 3> words{1, 2, 3};
    EXPECT_THROW(gpu::specialized(words, {}), Error);
}

}  // namespace
}  // namespace echolux::test
