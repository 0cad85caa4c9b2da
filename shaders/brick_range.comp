// Smallest and largest value in each brick of a volume. Eight invocations per brick each read 2 x 2 x 2 voxels at a
// time, so that neighbours read neighbouring voxels. Samplers with min and max reduction read these eight voxels in one
// fetch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/bricks.h"

layout(local_size_x = range_group) in;
layout(constant_id = 0) const int edge = 4;  // in voxels
layout(constant_id = 1) const bool reduces = true;
layout(constant_id = 2) const bool knows_min = true;  // false: the min is unknown, which halves the time

layout(push_constant) uniform Part {
    int slices;  // only the first `slices` B-scans are read
    int first;   // first slab of bricks along z
};

layout(set = 0, binding = binding_brick_min) uniform sampler3D min_of;
layout(set = 0, binding = binding_brick_max) uniform sampler3D max_of;
layout(set = 0, binding = binding_brick_ranges) uniform writeonly image3D ranges;

const float unknown = -3e38;

shared vec2 parts[range_group];

vec2 joined(vec2 a, vec2 b) {
    return vec2(min(a.x, b.x), max(a.y, b.y));
}

// The sampler reduces the eight voxels around this corner.
vec2 reduced(ivec3 at, ivec3 size) {
    vec3 corner = min(vec3(at + 1), vec3(size) - 0.5) / vec3(textureSize(max_of, 0));
    return vec2(knows_min ? textureLod(min_of, corner, 0.0).r : unknown, textureLod(max_of, corner, 0.0).r);
}

vec2 fetched(ivec3 at, ivec3 size) {
    vec2 range = vec2(texelFetch(max_of, at, 0).r);
    for (int i = 1; i < 8; ++i) {
        ivec3 near = min(at + (ivec3(i, i >> 1, i >> 2) & 1), size - 1);
        range = joined(range, vec2(texelFetch(max_of, near, 0).r));
    }
    return range;
}

void main() {
    uint invocation = gl_LocalInvocationIndex;
    ivec3 brick = ivec3(gl_GlobalInvocationID.x / 8, gl_WorkGroupID.y, int(gl_WorkGroupID.z) + first);
    ivec3 size = textureSize(max_of, 0);
    size.z = min(size.z, slices);
    ivec3 corner = brick * edge + 2 * (ivec3(invocation, invocation >> 1, invocation >> 2) & 1);
    float inside = texelFetch(max_of, min(corner, size - 1), 0).r;
    vec2 range = vec2(knows_min ? inside : unknown, inside);
    for (int z = 0; z < edge; z += 4)
        for (int y = 0; y < edge; y += 4)
            for (int x = 0; x < edge; x += 4) {
                ivec3 at = min(corner + ivec3(x, y, z), size - 1);
                range = joined(range, reduces ? reduced(at, size) : fetched(at, size));
            }
    parts[invocation] = range;
    barrier();
    if (invocation % 8 != 0 || any(greaterThanEqual(brick, imageSize(ranges)))) return;
    for (uint other = 1; other < 8; ++other) range = joined(range, parts[invocation + other]);
    if (!knows_min && brick.z * edge >= slices) range = vec2(unknown);  // empty, as in brick_peaks.comp
    imageStore(ranges, brick, vec4(range, 0, 0));
}
