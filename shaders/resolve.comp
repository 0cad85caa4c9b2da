// Converts an accumulation buffer to a picture: premultiplied floats to straight alpha, and traced light to display
// colours. Enlarges the buffer if its rays are further apart than pixels. Alternatively mixes two finished pictures.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/resolve.h"
#include "shaders/trace/tone.glsl"

layout(local_size_x = resolve_group, local_size_y = resolve_group) in;
layout(constant_id = 0) const bool enlarges = false;
layout(constant_id = 1) const bool tones = false;  // the buffer contains linear light
layout(constant_id = 2) const bool fades = false;  // mixes two finished pictures
layout(push_constant) uniform Part { ResolvePart part; };
layout(set = 0, binding = binding_resolve_accumulation) uniform sampler2D accumulation;
layout(set = 0, binding = binding_resolve_picture) uniform writeonly image2D picture;
layout(set = 0, binding = binding_resolve_drawn) uniform sampler2D drawn;  // or the second picture

vec4 seen_at(ivec2 here) {
    if (!enlarges) return texelFetch(accumulation, here, 0);
    // Clamps to slightly before the centre of the last ray. At the centre, the neighbour beyond it has a weight of 0,
    // but that memory is uninitialised and 0 times NaN is NaN.
    const float before = 1.0 / 64.0;
    vec2 last = max(vec2(part.columns, part.rows) - 0.5 - before, 0.5 - before);
    vec2 ray = min(max((vec2(here) + 0.5) * part.rays_per_pixel, 0.5 - before), last);
    return textureLod(accumulation, ray / vec2(textureSize(accumulation, 0)), 0.0);
}

// Composites in linear display light, so that background, lines and slices keep their colours.
vec4 shown(ivec2 here) {
    ToningFrame toning = part.toning;
    float row = float(here.y) - toning.first_ray.y + toning.rows_above;
    float down = clamp((row + 0.5) * toning.per_height, 0.0, 1.0);
    vec3 behind = toning.background.rgb + down * (toning.lower_background - toning.background.rgb);
    vec4 light = texelFetch(accumulation, here, 0);
    vec4 over = texelFetch(drawn, here, 0);
    vec3 colour = (light.a > 0.0 ? light.a * toned(light.rgb / light.a, toning.tone) : vec3(0)) + over.rgb;
    float opacity = clamp(light.a + over.a, 0.0, 1.0);
    if (toning.background.a == 0.0) return vec4(to_srgb(clamp(colour / max(opacity, 1e-6), 0.0, 1.0)), opacity);
    return vec4(to_srgb(clamp(colour + (1.0 - opacity) * from_srgb(behind), 0.0, 1.0)), 1.0);
}

vec4 faded(ivec2 here) {
    vec4 first = texelFetch(accumulation, here, 0), second = texelFetch(drawn, here, 0);
    float opacity = mix(first.a, second.a, part.share);
    vec3 colour = mix(first.a * first.rgb, second.a * second.rgb, part.share);
    return vec4(opacity > 0.0 ? colour / opacity : vec3(0), opacity);
}

void main() {
    ivec2 here = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(here, imageSize(picture)))) return;
    if (fades) {
        imageStore(picture, here, faded(here));
        return;
    }
    if (tones) {
        imageStore(picture, here, shown(here + ivec2(part.toning.first_ray)));
        return;
    }
    vec4 seen = seen_at(here);
    imageStore(picture, here, vec4(seen.a > 0.0 ? seen.rgb / seen.a : vec3(0), seen.a));
}
