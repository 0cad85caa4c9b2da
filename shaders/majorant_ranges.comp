// Range of the values that interpolation can produce in each brick: voxels of the brick and a margin of one voxel. It
// is narrower than the range of the neighbouring bricks, so the majorants are lower and the flights longer. One
// workgroup per brick; neighbouring invocations read neighbouring voxels.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#define OWN_GROUPS
#include "shaders/raycast/frame.glsl"

layout(local_size_x = majorant_readers) in;

shared vec2 ends_of[majorant_readers];

vec2 widened(vec2 a, vec2 b) {
    return vec2(min(a.x, b.x), max(a.y, b.y));
}

void main() {
    ivec3 brick = ivec3(gl_WorkGroupID);
    int reader = int(gl_LocalInvocationIndex);
    int edge = int(frame.trace.brick_edge);
    int halo = frame.trace.known.fault == float(fault_no_halo) ? 0 : 1;
    ivec3 from = max(brick * edge - halo, ivec3(0));
    ivec3 count = min((brick + 1) * edge - 1 + halo, textureSize(volume, 0) - 1) - from + 1;
    vec2 ends = vec2(3.0e38, -3.0e38);
    for (int i = reader; i < count.x * count.y * count.z; i += majorant_readers) {
        int row = i / count.x;
        float value = texelFetch(volume, from + ivec3(i - row * count.x, row % count.y, row / count.y), 0).r;
        if (!(value > -3.0e38)) ends.x = -3.0e38;  // for NaN, the table returns its first entry
        ends = vec2(value < ends.x ? value : ends.x, value > ends.y ? value : ends.y);
    }
    ends_of[reader] = ends;
    barrier();
    // Parallel reduction in shared memory.
    for (int others = majorant_readers / 2; others > 0; others /= 2) {
        if (reader < others) ends_of[reader] = widened(ends_of[reader], ends_of[reader + others]);
        barrier();
    }
    if (reader == 0) imageStore(majorant_ranges_target, brick, vec4(ends_of[0], 0, 0));
}
