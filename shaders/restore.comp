// Puts back what the filter has taken away that is no noise, such as the texture of speckle: filtered and unfiltered light
// are mixed so that the mean square error, estimated without knowing the truth (C. Stein, Annals of Statistics 9(6), 1981),
// is least. Where the two differ by no more than chance explains, the filtered one stays. Chance is what every other path
// differs from the rest: paths that are spread evenly err less than their spread says.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/denoise/inputs.glsl"

layout(local_size_x = denoise_group, local_size_y = denoise_group) in;

const float of_itself = 0.03;  // part of a pixel in its own filtered light: of two B-splines one behind the other

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
    float filtered = part.pass.w * texelFetch(variance, here, 0).r;
    imageStore(light_target, here, mix(texelFetch(light, here, 0), texelFetch(raw, here, 0), back));
    imageStore(variance_target, here,
               vec4(kept * kept * filtered + back * (back + 2.0 * kept * of_itself) * chance.r, chance.g, 0, 0));
}
