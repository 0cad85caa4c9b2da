// Phase function of tissue: L. Henyey, J. Greenstein, "Diffuse radiation in the galaxy", Astrophys. J. 93, 1941. `g` is
// the mean cosine of the scattering angle.
#ifndef ECHOLUX_SHADERS_SHARED_PHASE_H
#define ECHOLUX_SHADERS_SHARED_PHASE_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

// Returns the phase function per solid angle.
ECHOLUX_INLINE float phase(float cosine, float g) {
    float base = max(1.0f + g * g - 2.0f * g * cosine, 1e-6f);
    return (1.0f - g * g) / (12.5663706f * base * sqrt(base));
}

// Returns a cosine distributed like the phase function, for u uniform in (0, 1). Near g = 0, the closed form cancels
// and a series replaces it. Avoids a branch on g alone, see shaders/raycast/pixel.glsl.
ECHOLUX_INLINE float phase_cosine(float u, float g) {
    float even = 2.0f * u - 1.0f;
    float series = even + 1.5f * g * (1.0f - even * even);
    float part = (1.0f - g * g) / (1.0f - g + 2.0f * g * u);
    return mix(clamp((1.0f + g * g - part * part) / (2.0f * g), -1.0f, 1.0f), series, abs(g) < 1e-3f);
}

ECHOLUX_SHARED_END

#endif
