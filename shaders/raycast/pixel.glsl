// Which pixel an invocation works on, and the mean over passes.

// A GPU's texture units serve four invocations in a row together: in the order of a Morton curve these are a square and
// not a line, and their rays touch fewer lines of a cache. On software Vulkan rows are a little faster.
uvec2 pixel_in_group() {
    if (is_software) return gl_LocalInvocationID.xy;
    uint i = gl_LocalInvocationIndex;
    return uvec2((i & 1u) | (i >> 1 & 2u) | (i >> 2 & 4u), (i >> 1 & 1u) | (i >> 2 & 2u));
}

// Software Vulkan gives each core one run of neighbouring groups. Rows of groups are dealt out with a stride, so that
// each core gets its share of the hard part of the picture.
uvec2 region_pixel() {
    uint row = gl_WorkGroupID.y * uint(frame.rows.y) % uint(frame.rows.x);
    return uvec2(gl_WorkGroupID.x, row) * uvec2(group_width, group_height) + pixel_in_group();
}

// Rounded once, so that a picture has the same bits in one piece and in tiles.
vec2 place_in_picture(uvec2 here) {
    return vec2(here) * frame.pass.spot.z + frame.region.xy + frame.pass.spot.xy * frame.pass.spot.z;
}

// Without a branch on what the frame says: software Vulkan makes such a shader anew with each dispatch, and keeps them.
vec4 with_pass(vec4 mean, vec4 seen) {
    return mix(mix(mean, seen, frame.pass.share.x), seen, bvec4(frame.pass.share.x >= 1.0));
}

void add_to_mean(ivec2 here, vec4 seen) {
    imageStore(measures, here, with_pass(imageLoad(measures, here), seen));
}
