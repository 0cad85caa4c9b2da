// Variance of the mean of a pixel's paths: of the luminance, and summed over the features of the first scattering. It
// is averaged over 3 x 3 pixels because the variance of few paths is itself noisy.
//
// Also copies the light, optionally without fireflies: pixels that a rare path has made far brighter than their
// neighbours, and whose true brightness is therefore unknown. Fireflies are removed for display only; the mean of the
// paths keeps all light.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/denoise/inputs.glsl"

layout(local_size_x = denoise_group, local_size_y = denoise_group) in;

const float outstanding = 3.0;  // relative to the brightest neighbour
const float unknown = 0.3;      // standard error, relative to the luminance

// Returns the variances of a single path: luminance, features.
vec2 spread_at(ivec2 here) {
    vec4 mean = texelFetch(light, here, 0);
    vec4 scattered = texelFetch(albedo, here, 0);
    vec4 facing = texelFetch(normals, here, 0);
    float square = luminance(mean.rgb);
    square *= square;
    float of_features = dot(scattered, scattered) + dot(facing.xyz, facing.xyz) + mean.a * mean.a;
    return max(vec2(texelFetch(squares, here, 0).r - square, facing.w - of_features), vec2(0));
}

// Alpha is negative if no neighbour has been found.
vec4 brightest_beside(ivec2 here, ivec2 last) {
    vec4 brightest = vec4(-1);
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) {
            ivec2 there = clamp(here + ivec2(x, y), ivec2(0), last);
            vec4 other = there == here ? vec4(-1) : texelFetch(light, there, 0);
            if (luminance(other.rgb) > luminance(brightest.rgb)) brightest = other;
        }
    return brightest;
}

bool is_firefly(float level, float variance_of_mean, vec4 brightest) {
    return brightest.a >= 0.0 && level > outstanding * luminance(brightest.rgb) &&
           variance_of_mean > unknown * unknown * level * level;
}

void main() {
    ivec2 here = ivec2(gl_GlobalInvocationID.xy);
    ivec2 last = textureSize(light, 0) - 1;
    if (any(greaterThan(here, last))) return;
    vec4 seen = texelFetch(light, here, 0);
    vec4 brightest = brightest_beside(here, last);
    // Avoids a branch on the frame alone, see shaders/raycast/pixel.glsl.
    bool is_bright = is_firefly(luminance(seen.rgb), spread_at(here).x * part.per_degree, brightest);
    if (bool(int(part.hides_fireflies == 1.0) & int(is_bright))) {
        seen = brightest;
        atomicAdd(fireflies, 1u);
    }
    imageStore(light_target, here, seen);
    vec2 sum = vec2(0);
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) sum += spread_at(clamp(here + ivec2(x, y), ivec2(0), last));
    imageStore(variance_target, here, vec4(sum * part.per_degree / 9.0, 0, 0));
}
