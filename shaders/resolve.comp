// From an accumulation buffer to a picture: premultiplied floats to straight alpha, and to the picture's size where its rays
// are farther apart than pixels.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/resolve.h"
#include "shaders/trace/tone.glsl"

layout(local_size_x = resolve_group, local_size_y = resolve_group) in;
layout(constant_id = 0) const bool enlarges = false;
layout(constant_id = 1) const bool tones = false;  // what was accumulated is light
layout(push_constant) uniform Scale {
    float rays_per_pixel;
    float columns, rows;  // of rays: the buffer may be larger
    float none;
    vec4 tone;  // as in TraceFrame
    vec4 background;
};
layout(set = 0, binding = binding_resolve_accumulation) uniform sampler2D accumulation;
layout(set = 0, binding = binding_resolve_picture) uniform writeonly image2D picture;

vec4 seen_at(ivec2 here) {
    if (!enlarges) return texelFetch(accumulation, here, 0);
    vec2 ray = clamp((vec2(here) + 0.5) * rays_per_pixel, vec2(0.5), vec2(columns, rows) - 0.5);
    return textureLod(accumulation, ray / vec2(textureSize(accumulation, 0)), 0.0);
}

// Mixed as light of the display, so that the background stays what it is.
vec4 shown(vec4 seen) {
    vec3 colour = toned(seen.a > 0.0 ? seen.rgb / seen.a : vec3(0), tone);
    if (background.a == 0.0) return vec4(to_srgb(colour), seen.a);
    return vec4(to_srgb(mix(from_srgb(background.rgb), colour, seen.a)), 1.0);
}

void main() {
    ivec2 here = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(here, imageSize(picture)))) return;
    vec4 seen = seen_at(here);
    imageStore(picture, here, tones ? shown(seen) : vec4(seen.a > 0.0 ? seen.rgb / seen.a : vec3(0), seen.a));
}
