// Range of the values that interpolation can produce in each brick: voxels of the brick and a margin of one voxel. It
// is narrower than the range of the neighbouring bricks, so the majorants are lower and the flights longer. One
// workgroup per brick; neighbouring invocations read neighbouring voxels.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#define OWN_GROUPS
#include "shaders/raycast/frame.glsl"

layout(local_size_x = majorant_readers) in;
layout(constant_id = constant_reduces) const bool reduces = false;  // min_of and max_of return extremes of eight voxels

layout(set = 0, binding = binding_volume_min) uniform sampler3D min_of;
layout(set = 0, binding = binding_volume_max) uniform sampler3D max_of;

shared vec2 ends_of[majorant_readers];

vec2 widened(vec2 a, vec2 b) {
    return vec2(min(a.x, b.x), max(a.y, b.y));
}

// Reads the brick and its margin in cubes of 2^3 voxels, an eighth of the fetches. Beyond the faces the sampler repeats
// voxels of the brick.
vec2 reduced(ivec3 brick, int reader, int edge) {
    int cubes = edge / 2 + 1;  // per axis
    vec2 ends = vec2(3.0e38, -3.0e38);
    for (int i = reader; i < cubes * cubes * cubes; i += majorant_readers) {
        int row = i / cubes;
        ivec3 middle = brick * edge + 2 * ivec3(i - row * cubes, row % cubes, row / cubes);
        vec3 at = vec3(middle) / vec3(textureSize(volume, 0));
        ends = widened(ends, vec2(textureLod(min_of, at, 0.0).r, textureLod(max_of, at, 0.0).r));
    }
    return ends;
}

vec2 fetched(ivec3 brick, int reader, int edge, int halo) {
    ivec3 from = max(brick * edge - halo, ivec3(0));
    ivec3 count = min((brick + 1) * edge - 1 + halo, textureSize(volume, 0) - 1) - from + 1;
    vec2 ends = vec2(3.0e38, -3.0e38);
    for (int i = reader; i < count.x * count.y * count.z; i += majorant_readers) {
        int row = i / count.x;
        float value = texelFetch(volume, from + ivec3(i - row * count.x, row % count.y, row / count.y), 0).r;
        if (!(value > -3.0e38)) ends.x = -3.0e38;  // for NaN, the table returns its first entry
        ends = vec2(value < ends.x ? value : ends.x, value > ends.y ? value : ends.y);
    }
    return ends;
}

void main() {
    ivec3 brick = ivec3(gl_WorkGroupID);
    int reader = int(gl_LocalInvocationIndex);
    int edge = int(frame.trace.brick_edge);
    int halo = frame.trace.known.fault == float(fault_no_halo) ? 0 : 1;
    ends_of[reader] = reduces && halo == 1 ? reduced(brick, reader, edge) : fetched(brick, reader, edge, halo);
    barrier();
    // Parallel reduction in shared memory.
    for (int others = majorant_readers / 2; others > 0; others /= 2) {
        if (reader < others) ends_of[reader] = widened(ends_of[reader], ends_of[reader + others]);
        barrier();
    }
    if (reader == 0) imageStore(majorant_ranges_target, brick, vec4(ends_of[0], 0, 0));
}
