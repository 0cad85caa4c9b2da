// How far the mean of a pixel's paths may be from the truth: the variance of its luminance and, together, of what is
// known of where its paths were scattered first. Of 3 x 3 pixels: that of few paths is noise itself. And its light, as it
// is or without fireflies: pixels that a rare path has made far brighter than all around, of which one does not know how
// bright they are. Only what is shown goes without them; the mean of the paths keeps all light.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/denoise/inputs.glsl"

layout(local_size_x = denoise_group, local_size_y = denoise_group) in;

const float outstanding = 3.0;  // times as bright as the brightest neighbour
const float unknown = 0.3;      // standard error, as a part of the luminance

// Per path.
vec2 spread_at(ivec2 here) {
    vec4 mean = texelFetch(light, here, 0);
    vec4 scattered = texelFetch(albedo, here, 0);
    vec4 facing = texelFetch(normals, here, 0);
    float square = luminance(mean.rgb);
    square *= square;
    float of_features = dot(scattered, scattered) + dot(facing.xyz, facing.xyz) + mean.a * mean.a;
    return max(vec2(texelFetch(squares, here, 0).r - square, facing.w - of_features), vec2(0));
}

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
    // Not by a branch on the former alone: shaders/raycast/pixel.glsl says why.
    if (bool(int(part.pass.z == 1.0) & int(is_firefly(luminance(seen.rgb), spread_at(here).x * part.pass.x, brightest)))) {
        seen = brightest;
        atomicAdd(fireflies, 1u);
    }
    imageStore(light_target, here, seen);
    vec2 sum = vec2(0);
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) sum += spread_at(clamp(here + ivec2(x, y), ivec2(0), last));
    imageStore(variance_target, here, vec4(sum * part.pass.x / 9.0, 0, 0));
}
