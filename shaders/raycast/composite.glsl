// Emission and absorption after N. Max, "Optical models for direct volume rendering", IEEE TVCG 1(2), 1995: a step of
// length s through extinction e lets exp(-e s) of the light pass, so that the picture does not depend on the step.

const float least_lit = 1.0 / 512.0;  // share of the light from which on shading is worth its six samples

const float seen_share = 0.25;         // opacity from which on a ray is said to have met something

// The light of the samples [begin, end), `stride` of them at a time: in thin runs one stands for several.
void add_run(inout Seen seen, Ray ray, Samples samples, float begin, float end, float stride) {
    float bits = frame.lookup.z * samples.spacing * stride;
    for (float i = begin + 0.5 * stride - 0.5; i < end && seen.transmittance >= frame.picture.w; i += stride) {
        vec3 at = place(samples, i);
        int index = table_index(sampled(at));
        float extinction = texelFetch(extinctions, index, 0).r;
        if (extinction > 0.0) {
            vec3 colour = texelFetch(colours, index, 0).rgb;
            float passed = seen.transmittance * exp2(-extinction * bits);
            float share = seen.transmittance - passed;
            if (share > least_lit) colour = shaded_at(at, colour, ray.unit);
            if (seen.distance < 0.0 && passed <= 1.0 - seen_share) seen.distance = length_to(samples, i);
            seen.colour += share * colour;
            seen.transmittance = passed;
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
