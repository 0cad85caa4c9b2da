// Benchmark that only samples a small 3-D texture along rays: the max sampling rate of the device.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/texture_rate.h"

layout(local_size_x = rate_group, local_size_y = rate_group) in;
layout(set = 0, binding = binding_rate_source) uniform sampler3D source;
layout(set = 0, binding = binding_rate_sums) uniform writeonly image2D sums;

void main() {
    vec3 at = vec3(gl_GlobalInvocationID.xy, 0.3) * vec3(0.7, 0.7, 1.0) / float(rate_edge);
    float sum = 0.0;
    for (int i = 0; i < rate_samples; ++i) {
        sum += textureLod(source, at, 0.0).r;
        at += vec3(0.11, 0.07, 0.9) / float(rate_edge);
    }
    imageStore(sums, ivec2(gl_WorkGroupID.xy), vec4(sum));
}
