// Emission and absorption after N. Max, "Optical models for direct volume rendering", IEEE TVCG 1(2), 1995: a step of
// length s through extinction e lets exp(-e s) of the light pass, so that the picture does not depend on the step.

const float least_lit = 1.0 / 200.0;  // share of the light from which on shading is worth its samples

// Adds one sample: what it holds back of the light is its share.
void add_sample(inout Seen seen, vec3 colour, float share) {
    seen.colour += share * colour;
    seen.transmittance -= share;
}

// The light of the samples [begin, end), `stride` of them at a time: in thin runs one stands for several. Four are
// fetched together, as a fetch takes a GPU hundreds of cycles.
void add_run(inout Seen seen, Ray ray, Samples samples, float begin, float end, float stride) {
    float bits = frame.lookup.z * samples.spacing * stride;
    vec4 apart = vec4(0, 1, 2, 3) * stride;
    for (float i = begin + 0.5 * stride - 0.5; i < end && seen.transmittance >= frame.picture.w; i += 4.0 * stride) {
        ivec4 index;
        for (int j = 0; j < 4; ++j) index[j] = table_index(sampled(place(samples, i + apart[j])));
        vec4 extinction;
        for (int j = 0; j < 4; ++j) extinction[j] = extinction_at(index[j]);
        extinction *= vec4(lessThan(i + apart, vec4(end)));
        if (extinction == vec4(0)) continue;
        vec4 passed = exp2(-extinction * bits);
        for (int j = 0; j < 4; ++j) {
            float share = seen.transmittance * (1.0 - passed[j]);
            if (share <= 0.0) continue;
            float at = i + apart[j];
            if (seen.distance < 0.0) seen.distance = length_to(samples, at);
            vec3 colour = colour_at(index[j]);
            if (share > least_lit) colour = shaded_at(place(samples, at), colour, ray.unit);
            add_sample(seen, colour, share);
        }
    }
}

Seen composite(Ray ray) {
    Seen seen = nothing;
    Samples samples = samples_of(ray);
    for (float begin = 0.0; begin < samples.count && seen.transmittance >= frame.picture.w; begin += frame.run.x) {
        int kind = kind_of_run(samples, begin);
        if (kind == brick_empty) continue;
        float end = begin + frame.run.x;
        bool is_whole = end <= samples.count;
        add_run(seen, ray, samples, begin, min(end, samples.count), kind == brick_thin && is_whole ? frame.run.y : 1.0);
    }
    if (seen.transmittance < frame.picture.w) {
        seen.colour /= 1.0 - seen.transmittance;
        seen.transmittance = 0.0;
    }
    return seen;
}
