// Directional albedo of a surface's facets.
#pragma once

#include <array>

#include "shaders/shared/surface.h"

namespace echolux {

// Share of light that facets reflect: by the cosine of the incident direction, and the mean over all directions.
struct SurfaceAlbedo {
    std::array<float, shared::albedo_steps> of_cosine{};  // cosines from 0 to 1
    float mean = 0;
};

// `roughness` is the square root of GGX's alpha.
SurfaceAlbedo surface_albedo(double roughness);

// Interpolates linearly, like the shader.
float albedo_at(const SurfaceAlbedo& albedo, float cosine);

}  // namespace echolux
