// Mapping of invocations to pixels, and the mean over passes.

// GPU texture units process four consecutive invocations together. In Morton order they form a square instead of a
// line, whose rays share more cache lines. Software Vulkan is slightly faster with rows.
uvec2 pixel_in_group() {
    if (is_software) return gl_LocalInvocationID.xy;
    uint i = gl_LocalInvocationIndex;
    return uvec2((i & 1u) | (i >> 1 & 2u) | (i >> 2 & 4u), (i >> 1 & 1u) | (i >> 2 & 2u));
}

// Software Vulkan assigns consecutive workgroups to the same core. Rows of workgroups are permuted with a stride, so
// that each core gets its share of the expensive region.
uvec2 region_pixel() {
    uint row = gl_WorkGroupID.y * uint(frame.row_stride) % uint(frame.row_count);
    return uvec2(gl_WorkGroupID.x, row) * uvec2(group_width, group_height) + pixel_in_group();
}

// Rounded once, so that tiles have exactly the same bits as the whole picture.
vec2 place_in_picture(uvec2 here) {
    return vec2(here) * frame.pass.cell_edge + frame.region.xy + frame.pass.spot * frame.pass.cell_edge;
}

// Avoids a branch on the frame's values. Software Vulkan would compile a new version of the shader for each of their
// values and keep all of them.
vec4 with_pass(vec4 mean, vec4 seen) {
    return mix(mix(mean, seen, frame.pass.weight), seen, bvec4(frame.pass.weight >= 1.0));
}

void add_to_mean(ivec2 here, vec4 seen) {
    imageStore(measures, here, with_pass(imageLoad(measures, here), seen));
}
