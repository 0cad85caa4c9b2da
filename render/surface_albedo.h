// How much light the facets of a surface mirror, all together.
#pragma once

#include <array>

#include "shaders/shared/surface.h"

namespace echolux {

// From the direction of each cosine to all others, and the mean over all directions.
struct SurfaceAlbedo {
    std::array<float, shared::albedo_steps> of_cosine{};  // from 0 to 1
    float mean = 0;
};

// `roughness`: the square root of GGX's alpha.
SurfaceAlbedo surface_albedo(double roughness);

// Interpolated, as the shader does.
float albedo_at(const SurfaceAlbedo& albedo, float cosine);

}  // namespace echolux
