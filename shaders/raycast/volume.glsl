// Texture values of the volume at texture coordinates, wherever they lie.

// Slices that are not filled yet are never touched: they are being written.
float sampled(vec3 at) {
    if (output_kind == output_measures) samples_taken += 1.0;
    if (rolling != rolling_off) {
        if (at.z >= frame.filled.x) return rolling == rolling_over ? textureLod(previous, at, 0.0).r : frame.filled.z;
        at.z = min(at.z, frame.filled.y);
    }
    return textureLod(volume, at, 0.0).r;
}

// In texture values per smallest voxel edge: from the corners of a tetrahedron, which need four samples where central
// differences need six.
vec3 gradient(vec3 at) {
    const vec3 corners[4] = {vec3(1, -1, -1), vec3(-1, -1, 1), vec3(-1, 1, -1), vec3(1, 1, 1)};
    vec3 sum = vec3(0);
    for (int i = 0; i < 4; ++i) sum += corners[i] * sampled(at + corners[i] * frame.gradient_step.xyz);
    return sum * frame.per_difference.xyz;
}
