// How far the mean of a pixel's paths may be from the truth: the variance of its luminance and, together, of what is
// known of where its paths were scattered first. Of 3 x 3 pixels: that of few paths is noise itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/denoise/inputs.glsl"

layout(local_size_x = denoise_group, local_size_y = denoise_group) in;

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

void main() {
    ivec2 here = ivec2(gl_GlobalInvocationID.xy);
    ivec2 last = textureSize(light, 0) - 1;
    if (any(greaterThan(here, last))) return;
    vec2 sum = vec2(0);
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) sum += spread_at(clamp(here + ivec2(x, y), ivec2(0), last));
    imageStore(variance_target, here, vec4(sum * part.pass.x / 9.0, 0, 0));
}
