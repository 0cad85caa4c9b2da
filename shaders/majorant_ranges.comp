// The least and the largest value that interpolation can make in each brick: of its voxels and of those around it, one
// voxel far. Narrower than what whole bricks around it hold, and so are the flights through it longer.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/raycast/frame.glsl"

void main() {
    ivec3 brick = ivec3(gl_GlobalInvocationID);
    if (any(greaterThanEqual(brick, textureSize(majorant_ranges, 0)))) return;
    int edge = int(frame.trace.bricks.x);
    ivec3 last = textureSize(volume, 0) - 1;
    ivec3 from = max(brick * edge - 1, ivec3(0));
    ivec3 to = min((brick + 1) * edge, last);
    vec2 ends = vec2(3.0e38, -3.0e38);
    for (int z = from.z; z <= to.z; ++z)
        for (int y = from.y; y <= to.y; ++y)
            for (int x = from.x; x <= to.x; ++x) {
                float value = texelFetch(volume, ivec3(x, y, z), 0).r;
                if (!(value > -3.0e38)) ends.x = -3.0e38;  // of no number, the table gives its first entry
                ends = vec2(value < ends.x ? value : ends.x, value > ends.y ? value : ends.y);
            }
    imageStore(majorant_ranges_target, brick, vec4(ends, 0, 0));
}
