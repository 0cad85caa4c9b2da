// Second of two passes to the light volume: the light that reaches each cell from its surroundings and from the lamp.
// Rays sample the cells at growing distances, where interpolation between cells softens the shadows.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/raycast/frame.glsl"

const float first_step = 1.0;   // in cells, so that a cell does not shadow itself
const float around_growth = 2.0;  // 3 steps reach 7 cells, see render/raycast_frame.cpp
const float lamp_growth = 1.1;    // 32 steps reach 200 cells

// The corners of an icosahedron: evenly distributed, none along an axis of the volume.
const float short_side = 0.5257311;
const float long_side = 0.8506508;

vec3 direction_around(int i) {
    float s = (i & 1) != 0 ? short_side : -short_side;
    float l = (i & 2) != 0 ? long_side : -long_side;
    return i < 4 ? vec3(0, s, l) : i < 8 ? vec3(s, l, 0) : vec3(l, 0, s);
}

// Returns the optical depth in bits along a ray of `steps` steps, each `growth` times as long as the one before.
float bits_lost(vec3 at, vec3 direction, int steps, float growth) {
    vec3 per_cell = direction * frame.light.cell;
    float bits = 0.0;
    float begin = 0.5 * first_step;
    float width = first_step;
    for (int i = 0; i < steps; ++i) {
        vec3 there = at + (begin + 0.5 * width) * per_cell;
        if (any(notEqual(there, clamp(there, 0.0, 1.0)))) break;
        bits += width * textureLod(cells, there, 0.0).r;
        begin += width;
        width *= growth;
    }
    return bits;
}

// Ambient light, relative to that of an open half space: if half of all directions are open, the light is full, so flat
// walls are not darkened.
float light_from_around(vec3 at) {
    float sum = 0.0;
    int steps = int(frame.light.ambient_steps);
    for (int i = 0; i < 12; ++i) sum += exp2(-bits_lost(at, direction_around(i), steps, around_growth));
    return min(sum / 6.0, 1.0);
}

void main() {
    ivec3 cell = ivec3(gl_GlobalInvocationID);
    ivec3 size = imageSize(light_target);
    if (any(greaterThanEqual(cell, size))) return;
    vec3 at = (vec3(cell) + 0.5) / vec3(size);
    float around = light_from_around(at);
    float lamp = exp2(-bits_lost(at, frame.light.lamp, int(frame.light.lamp_steps), lamp_growth));
    vec2 strengths = vec2(frame.light.ambient_occlusion, frame.light.shadows);
    imageStore(light_target, cell, vec4(mix(vec2(1), vec2(around, lamp), strengths), 0, 0));
}
