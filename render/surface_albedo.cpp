#include "render/surface_albedo.h"

#include <algorithm>
#include <cmath>

namespace echolux {
namespace {

constexpr int strata = 48;  // per random number of a facet

// Integrates over stratified facets.
float directional(float cosine, float alpha) {
    const glm::vec3 out_to(std::sqrt(std::max(1 - cosine * cosine, 0.0F)), 0, cosine);
    double sum = 0;
    for (int i = 0; i < strata * strata; ++i) {
        const glm::vec2 u((static_cast<float>(i % strata) + 0.5F) / strata,
                          (static_cast<float>(i / strata) + 0.5F) / strata);
        const glm::vec3 facet = shared::ggx_facet(out_to, alpha, u);
        const glm::vec3 in_from = glm::reflect(-out_to, facet);
        if (in_from.z > 0) sum += shared::ggx_share(out_to, in_from, facet, alpha);
    }
    return static_cast<float>(sum / (strata * strata));
}

}  // namespace

float albedo_at(const SurfaceAlbedo& albedo, float cosine) {
    const float place = std::clamp(cosine, 0.0F, 1.0F) * (shared::albedo_steps - 1);
    const auto below = std::min(static_cast<std::size_t>(place), std::size_t{shared::albedo_steps} - 2);
    return std::lerp(albedo.of_cosine[below], albedo.of_cosine[below + 1], place - static_cast<float>(below));
}

// Grazing incidence is evaluated slightly above the horizon, where all terms are finite.
SurfaceAlbedo surface_albedo(double roughness) {
    const auto alpha = static_cast<float>(roughness * roughness);
    SurfaceAlbedo albedo;
    for (std::size_t i = 0; i < albedo.of_cosine.size(); ++i) {
        const float cosine = std::max(static_cast<float>(i) / (shared::albedo_steps - 1), 1e-3F);
        albedo.of_cosine[i] = directional(cosine, alpha);
    }
    // Integral of 2 E(cosine) cosine, with E piecewise linear.
    constexpr int parts = 16 * (shared::albedo_steps - 1);
    double sum = 0;
    for (int i = 0; i < parts; ++i) {
        const float cosine = (static_cast<float>(i) + 0.5F) / parts;
        sum += 2.0 / parts * cosine * albedo_at(albedo, cosine);
    }
    albedo.mean = static_cast<float>(sum);
    return albedo;
}

}  // namespace echolux
