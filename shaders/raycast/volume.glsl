// Sampling of the volume at texture coordinates, paged or not.

// Returns the size in voxels.
vec3 volume_size() {
    return paged ? frame.pages.voxels : vec3(textureSize(volume, 0));
}

// Returns the position in the pool of a point in the volume: in the slot of its page, or in the slot of the coarse page
// that covers it. Edge voxels are repeated beyond the faces, as in a texture of the whole volume.
vec3 place_in_pool(vec3 at) {
    vec3 voxel = clamp(at * frame.pages.voxels, vec3(0.5), frame.pages.voxels - 0.5);
    vec4 entry = texelFetch(pages, ivec3(voxel * frame.pages.per_page.xyz), 0);
    voxel *= entry.w > 0.0 ? frame.pages.coarse_per_voxel : 1.0;
    vec3 within = voxel - floor(voxel * frame.pages.per_page.xyz) * frame.pages.page;
    return (floor(255.0 * entry.xyz + 0.5) * frame.pages.stored.xyz + frame.pages.border + within) *
           frame.pages.per_pool.xyz;
}

// Samples the volume. Never touches unfilled slices, which are being written.
float sampled(vec3 at) {
    if (output_kind == output_measures) samples_taken += 1.0;
    if (rolling == rolling_over && at.z >= frame.filled.end) return textureLod(previous, at, 0.0).r;
    if (rolling != rolling_off) at.z = min(at.z, frame.filled.last_slice);
    if (paged) at = place_in_pool(at);
    return textureLod(volume, at, 0.0).r;
}

// Central differences, in texture values per smallest voxel edge.
vec3 gradient(vec3 at) {
    vec3 h = frame.gradient_step.xyz;
    return vec3(sampled(at + vec3(h.x, 0, 0)) - sampled(at - vec3(h.x, 0, 0)),
                sampled(at + vec3(0, h.y, 0)) - sampled(at - vec3(0, h.y, 0)),
                sampled(at + vec3(0, 0, h.z)) - sampled(at - vec3(0, 0, h.z))) * frame.per_difference.xyz;
}

// Estimates the same gradient from the corners of a tetrahedron, with four samples instead of six, for rays that shade
// many points. The corners are 1.2 times as far away as the points of gradient().
vec3 quick_gradient(vec3 at) {
    const vec3 corners[4] = {vec3(1, -1, -1), vec3(-1, -1, 1), vec3(-1, 1, -1), vec3(1, 1, 1)};
    const float half_square = 0.70710678;
    vec3 sum = vec3(0);
    for (int i = 0; i < 4; ++i) sum += corners[i] * sampled(at + half_square * corners[i] * frame.gradient_step.xyz);
    return sum * half_square * frame.per_difference.xyz;
}
