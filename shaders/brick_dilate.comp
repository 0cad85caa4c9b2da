// Adds its 26 neighbours to each brick's range, and with them whatever interpolation near an edge can reach.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/shared/bricks.h"

layout(local_size_x = brick_group, local_size_y = brick_group, local_size_z = brick_group) in;

layout(set = 0, binding = binding_dilate_source) uniform texture3D ranges;
layout(set = 0, binding = binding_dilate_target) uniform writeonly image3D dilated;

void main() {
    ivec3 brick = ivec3(gl_GlobalInvocationID);
    ivec3 last = textureSize(ranges, 0) - 1;
    if (any(greaterThan(brick, last))) return;
    ivec3 first = max(brick - 1, ivec3(0));
    ivec3 end = min(brick + 1, last);
    vec2 range = texelFetch(ranges, brick, 0).rg;
    for (int z = first.z; z <= end.z; ++z)
        for (int y = first.y; y <= end.y; ++y)
            for (int x = first.x; x <= end.x; ++x) {
                vec2 near = texelFetch(ranges, ivec3(x, y, z), 0).rg;
                range = vec2(min(range.x, near.x), max(range.y, near.y));
            }
    imageStore(dilated, brick, vec4(range, 0, 0));
}
