// The formulas of path tracing in C++: random numbers, scattering, surfaces.
#include <gtest/gtest.h>

#include <cmath>
#include <glm/gtc/constants.hpp>
#include <numbers>

#include "render/shader_tables.h"
#include "shaders/shared/phase.h"
#include "shaders/shared/philox.h"

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

}  // namespace
}  // namespace echolux::test
