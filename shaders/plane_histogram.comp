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
    if (part.depth.z == float(second_distance)) return at.x - textureLod(heights, at.yz, 0.0).r * part.depth.y - part.depth.x;
    if (part.depth.z == float(second_curvature)) return curvature_over(at, part.step.xyz, part.per.xyz);
    return length(slope_over(at, part.step.xyz, part.per.xyz));
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
    for (int i = int(gl_WorkGroupID.x); i < part.extent.w; i += int(gl_NumWorkGroups.x)) {
        int a_scan = i * part.first.w;
        ivec3 top = part.first.xyz + ivec3(0, a_scan % part.extent.y, a_scan / part.extent.y);
        for (int depth = int(gl_LocalInvocationIndex); depth < part.extent.x; depth += int(gl_WorkGroupSize.x)) {
            vec3 at = (vec3(top + ivec3(depth, 0, 0)) + 0.5) / size;
            float value = sampled(at);
            float second = second_at(at);
            if (!is_finite(value) || !is_finite(second)) continue;
            int column = bin_of(value * part.bins.x + part.bins.y);
            int row = bin_of(second * part.bins.z + part.bins.w);
            atomicAdd(counts[row * plane_bins + column], 1u);
        }
    }
}
