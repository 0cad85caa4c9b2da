// One level of an edge-avoiding A-trous filter (H. Dammertz et al., High Performance Graphics 2010). Before weighting,
// it subtracts the variance of luminance and features from their squared differences (C. Schied et al., "Spatiotemporal
// variance-guided filtering", High Performance Graphics 2017). Features are those of the first scattering: albedo,
// normal, depth, and whether there was one.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/denoise/inputs.glsl"

layout(local_size_x = denoise_group, local_size_y = denoise_group) in;

const float luminance_spread = 8.0;   // in standard deviations
const float feature_spread = 0.25;  // distance in feature space at which the weight is 1/e
const float dark = 1e-6;  // avoids division by zero where luminance has no variance
const float b_spline[3] = {0.375, 0.25, 0.0625};

float square(vec4 v) {
    return dot(v, v);
}

// A 5 x 5 B-spline kernel with taps `part.tap_distance` pixels apart.
void main() {
    ivec2 here = ivec2(gl_GlobalInvocationID.xy);
    ivec2 last = textureSize(light, 0) - 1;
    if (any(greaterThan(here, last))) return;
    vec4 middle = texelFetch(light, here, 0);
    vec4 scattered = texelFetch(albedo, here, 0);
    vec4 facing = vec4(texelFetch(normals, here, 0).xyz, middle.a);
    vec2 chance = texelFetch(variance, here, 0).rg;
    vec4 sum = vec4(0);
    float variances = 0.0;
    float weights = 0.0;
    for (int y = -2; y <= 2; ++y)
        for (int x = -2; x <= 2; ++x) {
            ivec2 there = clamp(here + int(part.tap_distance) * ivec2(x, y), ivec2(0), last);
            vec4 other = texelFetch(light, there, 0);
            vec2 either = chance + texelFetch(variance, there, 0).rg;
            float brighter = luminance(other.rgb) - luminance(middle.rgb);
            float unlike = square(texelFetch(albedo, there, 0) - scattered) +
                           square(vec4(texelFetch(normals, there, 0).xyz, other.a) - facing);
            // Ignores differences that noise explains.
            float light_apart = max(brighter * brighter - either.x, 0.0) /
                                (luminance_spread * luminance_spread * (chance.x + dark));
            float features_apart = max(unlike - either.y, 0.0) / (feature_spread * feature_spread);
            float weight = b_spline[abs(x)] * b_spline[abs(y)] * exp(-light_apart - features_apart);
            sum += weight * other;
            variances += weight * weight * (either.x - chance.x);
            weights += weight;
        }
    float left = variances / (weights * weights);
    imageStore(light_target, here, sum / weights);
    imageStore(variance_target, here, vec4(left, chance.y, 0, 0));
}
