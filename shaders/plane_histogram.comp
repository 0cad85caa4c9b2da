// Two-dimensional histogram for transfer functions over two axes: the value of voxels, and the second axis as computed
// by the ray caster.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/second.h"

layout(local_size_x = 64) in;

layout(push_constant) uniform Part { PlanePart part; };

layout(set = 0, binding = binding_plane_voxels) uniform sampler3D voxels;
layout(set = 0, binding = binding_plane_heights) uniform sampler2D heights;
layout(std430, set = 0, binding = binding_plane_counts) buffer Counts { uint counts[plane_bins * plane_bins]; };

float sampled(vec3 at) {
    return textureLod(voxels, at, 0.0).r;
}

#include "shaders/raycast/second_axis.glsl"

float second_at(vec3 at) {
    if (part.second == float(second_distance))
        return at.x - textureLod(heights, at.yz, 0.0).r * part.depth_per_um - part.zero_depth;
    if (part.second == float(second_curvature))
        return curvature_over(at, part.gradient_step.xyz, part.per_difference.xyz);
    return length(slope_over(at, part.gradient_step.xyz, part.per_difference.xyz));
}

// Tests the bits, because compilers may assume that all numbers are finite.
bool is_finite(float value) {
    return (floatBitsToUint(value) & 0x7F800000u) != 0x7F800000u;
}

int bin_of(float place) {
    return int(clamp(place, 0.0, float(plane_bins - 1)));
}

void main() {
    vec3 size = vec3(textureSize(voxels, 0));
    for (int i = int(gl_WorkGroupID.x); i < part.a_scans; i += int(gl_NumWorkGroups.x)) {
        int a_scan = i * part.stride;
        ivec3 top = part.first + ivec3(0, a_scan % part.extent.y, a_scan / part.extent.y);
        for (int depth = int(gl_LocalInvocationIndex); depth < part.extent.x; depth += int(gl_WorkGroupSize.x)) {
            vec3 at = (vec3(top + ivec3(depth, 0, 0)) + 0.5) / size;
            float value = sampled(at);
            float second = second_at(at);
            if (!is_finite(value) || !is_finite(second)) continue;
            int column = bin_of(value * part.value_scale + part.value_offset);
            int row = bin_of(second * part.second_scale + part.second_offset);
            atomicAdd(counts[row * plane_bins + column], 1u);
        }
    }
}
