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

// In texture values per smallest voxel edge.
vec3 gradient(vec3 at) {
    vec3 h = frame.gradient_step.xyz;
    return vec3(sampled(at + vec3(h.x, 0, 0)) - sampled(at - vec3(h.x, 0, 0)),
                sampled(at + vec3(0, h.y, 0)) - sampled(at - vec3(0, h.y, 0)),
                sampled(at + vec3(0, 0, h.z)) - sampled(at - vec3(0, 0, h.z))) * frame.per_difference.xyz;
}
