// Classifies each brick by the transfer function: one table lookup at either end of the brick's range. Runs for every
// picture.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/shared/bricks.h"

layout(local_size_x = brick_group, local_size_y = brick_group, local_size_z = brick_group) in;

layout(push_constant) uniform Lookup { float scale, offset; };  // texture value to table index

layout(set = 0, binding = binding_class_ranges) uniform texture3D ranges;
layout(set = 0, binding = binding_class_limits) uniform utexture1D limits;
layout(set = 0, binding = binding_class_target) uniform writeonly uimage3D classes;

void main() {
    ivec3 brick = ivec3(gl_GlobalInvocationID);
    if (any(greaterThanEqual(brick, textureSize(ranges, 0)))) return;
    vec2 ends = texelFetch(ranges, brick, 0).rg * scale + offset;
    ivec2 entries = ivec2(clamp(ends, 0.0, float(textureSize(limits, 0) - 1)) + 0.5);  // rounded as by the ray caster
    uint limit = texelFetch(limits, entries.x, 0).r;
    // Low half: first visible entry at or after the lower end. High half: first dense entry.
    int seen = int(limit & ((1u << limit_shift) - 1u));
    int dense = int(limit >> limit_shift);
    int kind = entries.y >= dense ? brick_dense : entries.y >= seen ? brick_thin : brick_empty;
    imageStore(classes, brick, uvec4(kind));
}
