// Histogram of voxel values. Each workgroup counts some A-scans in shared memory, then adds its counts to the result.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shaders/shared/histogram.h"

layout(local_size_x = histogram_group) in;

layout(push_constant) uniform Part { HistogramPart part; };

layout(set = 0, binding = binding_histogram_voxels) uniform texture3D voxels;
layout(std430, set = 0, binding = binding_histogram_counts) buffer Counts { uint counts[histogram_bins]; };

shared uint found[histogram_bins];

// Tests the bits, because compilers may assume that all numbers are finite.
bool is_finite(float value) {
    return (floatBitsToUint(value) & 0x7F800000u) != 0x7F800000u;
}

const float sure_phasor = 0.5;  // min magnitude of a reliable phasor; the max is 1

// Returns the bin of a voxel, or a negative number to skip it.
float bin_of(vec2 voxel) {
    if (part.counted == histogram_phases) {
        return length(voxel) < sure_phasor ? -1.0 : abs(atan(voxel.g, voxel.r)) * part.bin_scale;
    }
    if (!is_finite(voxel.r)) return -1.0;
    float bin = voxel.r * part.bin_scale + part.bin_offset;
    if (part.counted == histogram_speeds) return bin == 0.0 ? -1.0 : abs(bin);
    return max(bin, 0.0);
}

void main() {
    int here = int(gl_LocalInvocationIndex);
    found[here] = 0;
    barrier();
    for (int i = int(gl_WorkGroupID.x); i < part.a_scans; i += int(gl_NumWorkGroups.x)) {
        int a_scan = i * part.stride;
        ivec3 top = part.first + ivec3(0, a_scan % part.extent.y, a_scan / part.extent.y);
        for (int depth = here; depth < part.extent.x; depth += histogram_group) {
            float bin = bin_of(texelFetch(voxels, top + ivec3(depth, 0, 0), 0).rg);
            if (bin >= 0.0) atomicAdd(found[int(min(bin, float(histogram_bins - 1)))], 1u);
        }
    }
    barrier();
    if (found[here] > 0) atomicAdd(counts[here], found[here]);
}
