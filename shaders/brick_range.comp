// The least and the largest value in each brick of a volume: one invocation a brick. A sampler that reduces instead of
// filtering takes eight voxels at a time; fetched one by one a volume takes several times as long.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/bricks.h"

layout(local_size_x = brick_group, local_size_y = brick_group, local_size_z = brick_group) in;
layout(constant_id = 0) const int edge = 4;  // voxels
layout(constant_id = 1) const bool reduces = true;

layout(push_constant) uniform Part { int slices; };  // of the volume, from the first: no more are looked at

layout(set = 0, binding = binding_brick_least) uniform sampler3D least_of;
layout(set = 0, binding = binding_brick_most) uniform sampler3D most_of;
layout(set = 0, binding = binding_brick_ranges) uniform writeonly image3D ranges;

vec2 joined(vec2 a, vec2 b) {
    return vec2(min(a.x, b.x), max(a.y, b.y));
}

// Of the voxels `at` .. `at` + 1, or of `at` alone where that is the last.
vec2 range_at(ivec3 at, ivec3 size) {
    vec3 corner = min(vec3(at + 1), vec3(size) - 0.5) / vec3(textureSize(most_of, 0));
    return vec2(textureLod(least_of, corner, 0.0).r, textureLod(most_of, corner, 0.0).r);
}

void main() {
    ivec3 brick = ivec3(gl_GlobalInvocationID);
    if (any(greaterThanEqual(brick, imageSize(ranges)))) return;
    ivec3 size = textureSize(most_of, 0);
    size.z = min(size.z, slices);
    ivec3 first = min(brick * edge, size - 1);
    ivec3 end = min(brick * edge + edge, size);
    vec2 range = vec2(texelFetch(most_of, first, 0).r);
    int stride = reduces ? 2 : 1;
    for (int z = first.z; z < end.z; z += stride)
        for (int y = first.y; y < end.y; y += stride)
            for (int x = first.x; x < end.x; x += stride) {
                ivec3 at = ivec3(x, y, z);
                range = joined(range, reduces ? range_at(at, size) : vec2(texelFetch(most_of, at, 0).r));
            }
    imageStore(ranges, brick, vec4(range, 0, 0));
}
