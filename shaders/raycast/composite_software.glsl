// The composite for software Vulkan, with results identical to composite.glsl bit by bit.
//
// Software Vulkan runs eight rays at once. It executes both sides of a branch, but leaves a loop once all rays have
// left it. Rays therefore search for their next visible samples in a separate loop and meet at the expensive shading,
// which processes lit samples only. GPUs use the plain loops of composite.glsl, which keep more samples in flight.

// Position of a ray: sample `i` of a run that ends at `end`, in steps of `stride`. The next run begins at `begin`.
struct Walk {
    float begin, i, end, stride;
};

// Four samples that are fetched together.
struct Batch {
    float first, stride, end;
    ivec4 index;   // table entries
    vec4 optical;  // optical depths in bits; negative or zero: nothing to add
};

// Advances to the next batch with visible samples. Returns false at the end of the ray.
bool find_batch(inout Walk walk, Samples samples, out Batch batch) {
    for (;;) {
        while (walk.i >= walk.end && walk.begin < samples.count) {
            int kind = kind_of_run(samples, walk.begin);
            bool is_still = is_without_others(samples, walk.begin);
            float end = walk.begin + frame.run_length;
            if (kind != brick_empty || !is_still) {
                walk.stride = kind == brick_thin && is_still && end <= samples.count ? frame.thin_stride : 1.0;
                walk.i = walk.begin + 0.5 * walk.stride - 0.5;
                walk.end = min(end, samples.count);
            }
            walk.begin = end;
        }
        if (walk.i >= walk.end) return false;
        vec4 apart = vec4(0, 1, 2, 3) * walk.stride;
        batch.first = walk.i;
        batch.stride = walk.stride;
        batch.end = walk.end;
        for (int j = 0; j < 4; ++j) batch.index[j] = entry_of(place(samples, walk.i + apart[j]));
        float bits = frame.lookup.bits * samples.spacing * walk.stride;
        for (int j = 0; j < 4; ++j) batch.optical[j] = entry_extinction(batch.index[j]) * bits;
        walk.i += 4.0 * walk.stride;
        if (has_others() || batch.optical != vec4(0)) return true;
    }
}

void add_batch(inout RayResult seen, Ray ray, Samples samples, Batch batch) {
    vec4 apart = vec4(0, 1, 2, 3) * batch.stride;
    vec4 shares = vec4(0);
    vec3 colour[4];
    for (int j = 0; j < 4; ++j) {
        vec3 at = place(samples, batch.first + apart[j]);
        float thickness = batch.first + apart[j] < batch.end && is_kept(at) ? batch.optical[j] : -1.0;
        colour[j] = vec3(0);
        if (thickness >= 0.0 && (has_others() || thickness > 0.0)) colour[j] = entry_colour(batch.index[j]);
        if (has_others() && thickness >= 0.0) {
            add_others(at, samples.spacing * batch.stride, thickness, colour[j]);
        }
        if (thickness <= 0.0) continue;
        shares[j] = seen.transmittance * (1.0 - exp2(-thickness));
        if (seen.distance < 0.0 && seen.transmittance - shares[j] <= 1.0 - seen_share) {
            seen.distance = length_to(samples, batch.first + apart[j]);
        }
        seen.transmittance -= shares[j];
    }
    if (lighting == lighting_together) {
        vec4 light = vec4(0);
        float along = 0.0;
        for (int j = 0; j < 4; ++j) {
            light += shares[j] * vec4(colour[j], 1.0);
            along += shares[j] * (batch.first + apart[j]);
        }
        seen.colour += lit_together(ray, samples, light, along);
        return;
    }
    // Adds the samples in order. A separate loop skips samples that need no shading.
    int j = 0;
    for (int k = 0; k < 4; ++k) {
        while (j < 4 && shares[j] <= min_lit) {
            seen.colour += shares[j] * colour[j];
            ++j;
        }
        if (j == 4) break;
        seen.colour += shares[j] * shaded_at(place(samples, batch.first + apart[j]), colour[j], ray.unit);
        ++j;
    }
}

RayResult composite_in_software(Ray ray) {
    RayResult seen = nothing;
    Samples samples = samples_of(ray);
    Walk walk = Walk(0.0, 0.0, 0.0, 1.0);
    Batch batch;
    while (seen.transmittance >= frame.min_transmittance && find_batch(walk, samples, batch)) {
        add_batch(seen, ray, samples, batch);
    }
    return seen;
}
