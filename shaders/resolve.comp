// From an accumulation buffer to a picture: premultiplied floats to straight alpha, and to the picture's size where its rays
// are farther apart than pixels. Or from two finished pictures to what lies between them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/resolve.h"
#include "shaders/trace/tone.glsl"

layout(local_size_x = resolve_group, local_size_y = resolve_group) in;
layout(constant_id = 0) const bool enlarges = false;
layout(constant_id = 1) const bool tones = false;  // what was accumulated is light
layout(constant_id = 2) const bool fades = false;  // between two finished pictures
layout(push_constant) uniform Scale {
    float rays_per_pixel;
    float columns, rows;  // of rays: the buffer may be larger
    float share;  // of the second picture
    vec4 tone;  // see tone.glsl
    vec4 background;
    vec4 rim;    // rays before the picture's first: to the left, above; rows of the whole picture above it
    vec4 below;  // the background at the lower edge; 1 / height of the whole picture
};
layout(set = 0, binding = binding_resolve_accumulation) uniform sampler2D accumulation;
layout(set = 0, binding = binding_resolve_picture) uniform writeonly image2D picture;
layout(set = 0, binding = binding_resolve_drawn) uniform sampler2D drawn;  // or the second picture

vec4 seen_at(ivec2 here) {
    if (!enlarges) return texelFetch(accumulation, here, 0);
    // A little before the middle of the last ray: at the middle, what lies beyond it counts nothing, but nothing times NaN
    // is NaN, and the buffer has there whatever was in the memory.
    const float before = 1.0 / 64.0;
    vec2 last = max(vec2(columns, rows) - 0.5 - before, 0.5 - before);
    vec2 ray = min(max((vec2(here) + 0.5) * rays_per_pixel, 0.5 - before), last);
    return textureLod(accumulation, ray / vec2(textureSize(accumulation, 0)), 0.0);
}

// Mixed as light of the display, so that the background stays what it is, and so do lines and slices.
vec4 shown(ivec2 here) {
    float down = clamp((float(here.y) - rim.y + rim.z + 0.5) * below.w, 0.0, 1.0);
    vec3 behind = background.rgb + down * (below.rgb - background.rgb);
    vec4 light = texelFetch(accumulation, here, 0);
    vec4 over = texelFetch(drawn, here, 0);
    vec3 colour = (light.a > 0.0 ? light.a * toned(light.rgb / light.a, tone) : vec3(0)) + over.rgb;
    float opacity = clamp(light.a + over.a, 0.0, 1.0);
    if (background.a == 0.0) return vec4(to_srgb(clamp(colour / max(opacity, 1e-6), 0.0, 1.0)), opacity);
    return vec4(to_srgb(clamp(colour + (1.0 - opacity) * from_srgb(behind), 0.0, 1.0)), 1.0);
}

vec4 faded(ivec2 here) {
    vec4 first = texelFetch(accumulation, here, 0), second = texelFetch(drawn, here, 0);
    float opacity = mix(first.a, second.a, share);
    vec3 colour = mix(first.a * first.rgb, second.a * second.rgb, share);
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
        imageStore(picture, here, shown(here + ivec2(rim.xy)));
        return;
    }
    vec4 seen = seen_at(here);
    imageStore(picture, here, vec4(seen.a > 0.0 ? seen.rgb / seen.a : vec3(0), seen.a));
}
