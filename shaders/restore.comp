// Restores detail that the filter has removed but that is not noise, such as speckle texture. Mixes filtered and
// unfiltered light with the weight that minimises the mean square error, estimated without knowledge of the truth (C.
// Stein, Annals of Statistics 9(6), 1981). If chance explains the difference between the two, the filtered light stays.
//
// Chance is measured as the difference between the two halves of the paths. The variance of single paths would
// overestimate it, because evenly distributed paths have a smaller error.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/denoise/inputs.glsl"

layout(local_size_x = denoise_group, local_size_y = denoise_group) in;

// Weight of a pixel in its own filtered value, for two successive B-splines.
const float of_itself = 0.03;

void main() {
    ivec2 here = ivec2(gl_GlobalInvocationID.xy);
    ivec2 last = textureSize(light, 0) - 1;
    if (any(greaterThan(here, last))) return;
    float apart = 0.0, by_chance = 0.0;
    for (int y = -restored_over; y <= restored_over; ++y)
        for (int x = -restored_over; x <= restored_over; ++x) {
            ivec2 there = clamp(here + ivec2(x, y), ivec2(0), last);
            float taken = luminance(texelFetch(raw, there, 0).rgb - texelFetch(light, there, 0).rgb);
            apart += taken * taken;
            float halves_apart = texelFetch(squares, there, 0).g;
            by_chance += halves_apart * halves_apart;
        }
    float back = apart > 0.0 ? clamp(1.0 - (1.0 - of_itself) * by_chance / apart, 0.0, 1.0) : 0.0;
    float kept = 1.0 - back;
    vec2 chance = texelFetch(raw_variance, here, 0).rg;
    float filtered = part.variance_ratio * texelFetch(variance, here, 0).r;
    imageStore(light_target, here, mix(texelFetch(light, here, 0), texelFetch(raw, here, 0), back));
    imageStore(variance_target, here,
               vec4(kept * kept * filtered + back * (back + 2.0 * kept * of_itself) * chance.r, chance.g, 0, 0));
}
