// Noise of the noisiest tile of a picture. For each tile, the mean square of the change that one standard deviation of
// the light causes on the display, in steps of 8 bits. The result is the max over all tiles.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/denoise/inputs.glsl"
#include "shaders/trace/tone.glsl"

layout(local_size_x = noise_tile, local_size_y = noise_tile) in;

shared float of_pixels[noise_tile * noise_tile];

// Returns the displayed 8-bit code of a luminance over the background.
float code_of(float level, float opacity) {
    vec3 shown = mix(from_srgb(part.background.rgb) * part.background.a, toned(vec3(level), part.tone), opacity);
    return 255.0 * to_srgb(shown).g;
}

float noise_at(ivec2 here) {
    vec4 mean = texelFetch(light, here, 0);
    float opacity = clamp(mean.a, 0.0, 1.0);
    float per_opacity = 1.0 / max(opacity, 1e-3);
    float level = luminance(mean.rgb) * per_opacity;
    float chance = sqrt(texelFetch(variance, here, 0).r) * per_opacity;
    return 0.5 * (code_of(level + chance, opacity) - code_of(max(level - chance, 0.0), opacity));
}

void main() {
    ivec2 here = ivec2(gl_GlobalInvocationID.xy);
    ivec2 size = textureSize(light, 0);
    uint place = gl_LocalInvocationIndex;
    bool is_inside = all(lessThan(here, size));
    float noise = is_inside ? noise_at(here) : 0.0;
    of_pixels[place] = noise * noise;
    barrier();
    // Parallel sum over the tile.
    for (uint others = noise_tile * noise_tile / 2; others > 0; others /= 2) {
        if (place < others) of_pixels[place] += of_pixels[place + others];
        barrier();
    }
    ivec2 inside = min(size - ivec2(gl_WorkGroupID.xy) * noise_tile, ivec2(noise_tile));
    // Bits of non-negative floats have the order of the floats.
    if (place == 0u) atomicMax(worst, floatBitsToUint(of_pixels[0] / float(inside.x * inside.y)));
}
