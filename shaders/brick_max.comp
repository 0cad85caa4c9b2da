// The largest value in each brick: one invocation a brick. Run over a volume it looks at the brick's voxels alone; run
// over bricks, with edge 1, it adds their neighbours, and with them whatever interpolation near an edge can reach.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/shared/bricks.h"

layout(local_size_x = brick_group, local_size_y = brick_group, local_size_z = brick_group) in;
layout(constant_id = 0) const int edge = brick_edge;
layout(constant_id = 1) const int around = 0;

layout(push_constant) uniform Part { int slices; };  // of the source, from the first: no more are looked at

layout(set = 0, binding = binding_brick_source) uniform texture3D source;
layout(set = 0, binding = binding_brick_target) uniform writeonly image3D bricks;

void main() {
    ivec3 brick = ivec3(gl_GlobalInvocationID);
    if (any(greaterThanEqual(brick, imageSize(bricks)))) return;
    ivec3 end = textureSize(source, 0) - 1;
    end.z = min(end.z, slices - 1);
    ivec3 first = clamp(brick * edge - around, ivec3(0), end);
    ivec3 last = min(brick * edge + edge - 1 + around, end);
    float most = texelFetch(source, first, 0).r;
    for (int z = first.z; z <= last.z; ++z)
        for (int y = first.y; y <= last.y; ++y)
            for (int x = first.x; x <= last.x; ++x) most = max(most, texelFetch(source, ivec3(x, y, z), 0).r);
    imageStore(bricks, brick, vec4(most));
}
