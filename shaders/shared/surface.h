// Reflection by surfaces: microfacets (GGX; B. Walter et al., EGSR 2007) with the Fresnel reflection of tissue in air
// or water, sampled by visible normals (E. Heitz, JCGT 7(4), 2018). Light that they transmit is scattered diffusely
// below them, so that white surfaces conserve energy (C. Kelemen, L. Szirmay-Kalos, Eurographics 2001). Directions are
// unit vectors away from the surface, whose normal is z.
#ifndef ECHOLUX_SHADERS_SHARED_SURFACE_H
#define ECHOLUX_SHADERS_SHARED_SURFACE_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST albedo_steps = 32;  // entries of a table of directional albedos, over cosines from 0 to 1

// Schlick's approximation (C. Schlick, Computer Graphics Forum 13(3), 1994).
ECHOLUX_INLINE float fresnel(float cosine) {
    const float head_on = 0.04f;  // reflectance at normal incidence: ((n - 1) / (n + 1))^2 of a relative index n of 1.5
    float rest = clamp(1.0f - cosine, 0.0f, 1.0f);
    return head_on + (1.0f - head_on) * rest * rest * rest * rest * rest;
}

// Smith's shadowing term (Lambda) of GGX.
ECHOLUX_INLINE float ggx_hiding(float cosine, float alpha) {
    float square = cosine * cosine;
    return 0.5f * (sqrt(1.0f + alpha * alpha * (1.0f - square) / max(square, 1e-12f)) - 1.0f);
}

// Returns the BRDF of the facets: reflected radiance per irradiance.
ECHOLUX_INLINE float ggx_reflected(vec3 out_to, vec3 in_from, float alpha) {
    vec3 between = normalize(out_to + in_from);
    float slope = between.z * between.z * (alpha * alpha - 1.0f) + 1.0f;
    float facets = alpha * alpha / (3.14159265f * slope * slope);
    float seen = 1.0f / (1.0f + ggx_hiding(out_to.z, alpha) + ggx_hiding(in_from.z, alpha));
    return facets * fresnel(dot(between, in_from)) * seen / max(4.0f * out_to.z * in_from.z, 1e-12f);
}

// Samples the normal of a facet visible from a direction, in proportion to the projected area.
ECHOLUX_INLINE vec3 ggx_facet(vec3 out_to, float alpha, vec2 u) {
    vec3 view = normalize(vec3(alpha * out_to.x, alpha * out_to.y, out_to.z));
    float across = view.x * view.x + view.y * view.y;
    vec3 first = across > 0.0f ? vec3(-view.y, view.x, 0.0f) / sqrt(across) : vec3(1, 0, 0);
    vec3 second = cross(view, first);
    float radius = sqrt(u.x);
    float turn = 6.28318531f * u.y;
    float a = radius * cos(turn);
    float b = mix(sqrt(1.0f - a * a), radius * sin(turn), 0.5f * (1.0f + view.z));
    vec3 facet = a * first + b * second + sqrt(max(1.0f - a * a - b * b, 0.0f)) * view;
    return normalize(vec3(alpha * facet.x, alpha * facet.y, max(facet.z, 1e-6f)));
}

// Returns the share of light that a facet sampled by ggx_facet() reflects.
ECHOLUX_INLINE float ggx_share(vec3 out_to, vec3 in_from, vec3 facet, float alpha) {
    float hidden = ggx_hiding(out_to.z, alpha);
    return fresnel(dot(facet, in_from)) * (1.0f + hidden) / (1.0f + hidden + ggx_hiding(in_from.z, alpha));
}

ECHOLUX_SHARED_END

#endif
