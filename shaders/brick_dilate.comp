// Extends the range of each brick by those of its 26 neighbours, which covers all values that interpolation reads
// across its faces. A workgroup loads its bricks and their neighbours into shared memory once; each invocation then
// combines a column of bricks layer by layer.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/shared/bricks.h"

layout(local_size_x = dilate_group, local_size_y = dilate_group) in;

layout(push_constant) uniform Part { int first, end; };  // slabs of bricks along z

layout(set = 0, binding = binding_dilate_source) uniform texture3D ranges;
layout(set = 0, binding = binding_dilate_target) uniform writeonly image3D dilated;

const int side = dilate_group + 2;
const int layers = dilate_run + 2;

// Ranges as (min, max) pairs, x fastest.
shared vec2 tile[layers * side * side];

vec2 joined(vec2 a, vec2 b) {
    return vec2(min(a.x, b.x), max(a.y, b.y));
}

void main() {
    ivec3 corner = ivec3(gl_WorkGroupID) * ivec3(dilate_group, dilate_group, dilate_run) + ivec3(0, 0, first);
    ivec3 last = textureSize(ranges, 0) - 1;
    for (int i = int(gl_LocalInvocationIndex); i < layers * side * side; i += dilate_group * dilate_group) {
        ivec3 at = corner + ivec3(i % side, i / side % side, i / (side * side)) - 1;
        tile[i] = texelFetch(ranges, clamp(at, ivec3(0), last), 0).rg;
    }
    barrier();
    ivec2 here = ivec2(gl_LocalInvocationID);
    vec2 of_layer[layers];
    for (int z = 0; z < layers; ++z) {
        int at = (z * side + here.y) * side + here.x;
        of_layer[z] = tile[at];
        for (int i = 1; i < 9; ++i) of_layer[z] = joined(of_layer[z], tile[at + i / 3 * side + i % 3]);
    }
    for (int z = 0; z < dilate_run; ++z) {
        ivec3 brick = corner + ivec3(here, z);
        if (any(greaterThan(brick, last)) || brick.z >= end) return;
        imageStore(dilated, brick, vec4(joined(joined(of_layer[z], of_layer[z + 1]), of_layer[z + 2]), 0, 0));
    }
}
