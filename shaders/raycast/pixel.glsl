// Which pixel an invocation works on, and the mean over passes.

// Software Vulkan gives each core one run of neighbouring groups. Rows of groups are dealt out with a stride, so that
// each core gets its share of the hard part of the picture.
uvec2 region_pixel() {
    uint row = gl_WorkGroupID.y * uint(frame.rows.y) % uint(frame.rows.x);
    return uvec2(gl_GlobalInvocationID.x, row * group_height + gl_LocalInvocationID.y);
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
